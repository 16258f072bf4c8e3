import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { ArrowLeft, ArrowRight } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { interactionQuery, interactionsQuery } from '@/api/queries';
import { useTitle } from '@/app/title';
import { Question } from '@/features/question/question';
import { oneLine } from '@/lib/text';
import { titleOf } from '@/model/labels';
import { buttonLook } from '@/ui/button';

/** One question, beside the list or alone, at an address of its own. */
export function QuestionRoute() {
  const { t } = useTranslation();
  const { interaction } = useParams({ from: '/inside/inbox/$interaction' });
  const { move } = useSearch({ from: '/inside/inbox' });
  const { data } = useQuery(interactionQuery(interaction));
  useTitle(data ? oneLine(titleOf(t, data), 60) : t('question.label'));
  return (
    <Question
      key={interaction}
      id={interaction}
      begin={move}
      next={<Next />}
      back={
        <Link
          from="/inbox"
          to="/inbox"
          search={(search) => ({ ...search, move: undefined })}
          className="-ml-1 inline-flex items-center gap-1.5 py-1 font-medium text-accent-ink lg:hidden"
        >
          <ArrowLeft aria-hidden="true" className="size-4" />
          {t('nav.inbox')}
        </Link>
      }
    />
  );
}

/** Link to the next open question after this one is answered. */
function Next() {
  const { t } = useTranslation();
  const { move: _, ...search } = useSearch({ from: '/inside/inbox' });
  const { data } = useInfiniteQuery(interactionsQuery({ status: 'pending', ...search }));
  const first = data?.pages[0]?.interactions.find((question) => question.status === 'pending');
  if (!first) return null;
  return (
    <Link
      from="/inbox"
      to="/inbox/$interaction"
      params={{ interaction: first.id }}
      search={search}
      className={buttonLook({ tone: 'accent' })}
    >
      {t('question.next')}
      <ArrowRight aria-hidden="true" />
    </Link>
  );
}
