import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { type InboxFilter, interactionsQuery, meQuery } from '@/api/queries';
import { useShortcuts } from '@/lib/shortcuts';
import { barred } from '@/model/may';
import { Button } from '@/ui/button';
import { Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { BatchBar } from './batch';
import { NothingFound, NothingOpen } from './empty';
import { Row } from './row';
import { SelectAll } from './select-all';
import { useSelection } from './selection';

interface Props {
  filter: InboxFilter;
  filtered: boolean;
  here?: string;
}

/** List of questions with keyboard navigation. */
export function QuestionList({ filter, filtered, here }: Props) {
  const { t } = useTranslation();
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = useInfiniteQuery(
    interactionsQuery(filter),
  );
  const questions = useMemo(() => data?.pages.flatMap((page) => page.interactions) ?? [], [data]);
  const { data: me } = useQuery(meQuery());
  const own = useAnswerableIds(filter, me?.role === 'viewer');
  const open = questions.filter(
    (question) => question.status === 'pending' && me && (own.has(question.id) || !barred(question, me)),
  );
  const { selected, toggle, all } = useSelection(open.map((question) => question.id));
  const chosen = open.filter((question) => selected.has(question.id));
  useKeys(
    questions.map((question) => question.id),
    here,
    toggle,
    hasNextPage
      ? () => fetchNextPage().then((next) => next.data?.pages.flatMap((page) => page.interactions) ?? [])
      : undefined,
  );

  return (
    <>
      {isPending ? <Waiting rows={8} label={t('common.loading')} /> : null}
      {error && !data ? (
        <div className="p-4">
          <ProblemNotice error={error} again={() => void refetch()} />
        </div>
      ) : null}
      {data && questions.length === 0 ? filtered ? <NothingFound /> : <NothingOpen /> : null}
      <SelectAll of={open.length} count={chosen.length} onChange={all} />
      {questions.length > 0 ? (
        <ul aria-label={t('inbox.list')} className="min-h-0 flex-1 overflow-y-auto">
          {questions.map((question) => (
            <Row
              key={question.id}
              question={question}
              here={question.id === here}
              selected={selected.has(question.id)}
              onSelect={open.includes(question) ? (range) => toggle(question.id, range) : undefined}
            />
          ))}
          {hasNextPage ? (
            <li className="p-4 text-center">
              <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                {t('common.more')}
              </Button>
            </li>
          ) : null}
        </ul>
      ) : null}
      <BatchBar questions={chosen} onClear={() => all(false)} />
    </>
  );
}

/**
 * Questions that a viewer may answer, as the server lists them. A viewer may answer questions of a session that they
 * started, but the list does not contain who started a session.
 */
function useAnswerableIds(filter: InboxFilter, viewer: boolean): ReadonlySet<string> {
  const { data } = useInfiniteQuery({ ...interactionsQuery({ ...filter, mine: true }), enabled: viewer });
  return useMemo(() => new Set(data?.pages.flatMap((page) => page.interactions.map(({ id }) => id))), [data]);
}

/** Keyboard shortcuts of the list: j and k move, x selects, and a, e and r open a question with that answer begun. */
function useKeys(
  ids: string[],
  here: string | undefined,
  toggle: (id: string) => void,
  more?: () => Promise<{ id: string }[]>,
): void {
  const navigate = useNavigate({ from: '/inbox' });
  const last = useRef(0);
  const wanted = useRef<number>(undefined);
  const at = here === undefined ? -1 : ids.indexOf(here);
  if (at >= 0) last.current = at;
  const focused = () => {
    const row = document.activeElement?.closest<HTMLElement>('[data-question]');
    return row?.dataset.question ?? here;
  };
  const go = (id: string | undefined, move?: 'approve' | 'edit' | 'reject') => {
    if (!id) return;
    const link = document.querySelector<HTMLElement>(`[data-question="${id}"] a`);
    link?.focus();
    if (move || here !== undefined || matchMedia('(min-width: 64rem)').matches) {
      void navigate({
        to: '/inbox/$interaction',
        params: { interaction: id },
        search: (search) => ({ ...search, move }),
      });
    }
  };
  const walk = (by: number) => {
    const from = ids.indexOf(focused() ?? '');
    // An answered question has left the list, and the next question has its index.
    const to = from >= 0 ? from + by : here === undefined ? 0 : by > 0 ? last.current : last.current - 1;
    wanted.current = undefined;
    if (to < ids.length || !more) return go(ids[Math.min(Math.max(to, 0), ids.length - 1)]);
    wanted.current = to;
    void more().then((all) => {
      if (all.length <= to) wanted.current = undefined;
    });
  };
  // The next page is loaded before its rows are drawn, so the focus moves to the row once it exists.
  useEffect(() => {
    if (wanted.current === undefined || wanted.current >= ids.length) return;
    const id = ids[wanted.current];
    wanted.current = undefined;
    go(id);
  });
  const begin = (move: 'approve' | 'edit' | 'reject') => {
    const id = focused();
    if (id && id !== here) go(id, move);
  };
  useShortcuts({
    j: () => walk(1),
    k: () => walk(-1),
    x: () => {
      const id = focused();
      if (id && ids.includes(id)) toggle(id);
    },
    ...(here === undefined ? { a: () => begin('approve'), e: () => begin('edit'), r: () => begin('reject') } : {}),
  });
}
