import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { SearchX } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { asProblem } from '@/api/problem';
import { interactionsQuery, meQuery, sessionQuery } from '@/api/queries';
import type { Interaction } from '@/api/types';
import { reasonOf, sessionName, titleOf } from '@/model/labels';
import { callLine } from '@/model/subject';
import { AgentLine, AgentText } from '@/ui/agent-text';
import { Button } from '@/ui/button';
import { CallInLine } from '@/ui/call';
import { JsonTable } from '@/ui/json';
import { Card, Empty, Notice, Page, Section, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { SessionBadge } from '@/ui/status';
import { Ago } from '@/ui/time';
import { Controls } from './controls';
import { Message } from './message';
import { Steps } from './steps';
import { Timeline } from './timeline';

const OVER = ['completed', 'failed', 'cancelled'];

interface Props {
  id: string;
  back: ReactNode;
  question: (id: string) => ReactNode;
}

/** One session, updated live: events, results and open questions. */
export function Session({ id, back, question }: Props) {
  const { t } = useTranslation();
  const { data: session, error, refetch } = useQuery(sessionQuery(id));
  const { data: me } = useQuery(meQuery());
  const may = me?.role === 'admin' || me?.role === 'operator';
  const open = useInfiniteQuery(interactionsQuery({ session: id, status: 'pending' }));
  const pending = open.data?.pages.flatMap((page) => page.interactions) ?? [];
  const questions = useOpened(pending);
  if (!session) {
    if (!error) return <Waiting rows={8} label={t('common.loading')} />;
    if (['not_found', 'id_invalid'].includes(asProblem(error).code))
      return <Empty level={1} icon={SearchX} title={t('session.notFound')} />;
    return (
      <div className="p-6">
        <ProblemNotice error={error} again={() => void refetch()} />
      </div>
    );
  }
  return (
    <Page
      narrow
      back={back}
      title={<AgentLine text={sessionName(t, session)} />}
      about={
        <span className="flex flex-wrap items-center gap-2 text-sm">
          <SessionBadge status={session.status} />
          {session.paused && session.status !== 'paused' ? <SessionBadge status="paused" /> : null}
          <span>
            {session.agent || session.flow ? <AgentLine text={session.agent ?? session.flow ?? ''} /> : null}
            <span aria-hidden="true"> · </span>
            {t('session.startedBy', { name: session.started_by.name })} <Ago at={session.created_at} />
          </span>
        </span>
      }
      actions={<Controls session={session} />}
    >
      <div className="space-y-8">
        {session.reason ? (
          <Notice tone={session.status === 'failed' ? 'danger' : 'plain'}>
            <AgentText text={reasonOf(t, session.reason)} />
          </Notice>
        ) : null}
        {session.input !== undefined && session.input !== null ? (
          <Section title={t('session.input')}>
            <Card className="px-4 py-2">
              <JsonTable value={session.input} />
            </Card>
          </Section>
        ) : null}
        {session.driven && may && !OVER.includes(session.status) ? <Message session={session.id} /> : null}
        {questions.length > 0 ? (
          <Section title={t('session.open', { count: Math.max(pending.length, session.waiting_on) })}>
            <ul className="space-y-4">
              {questions.map((one, at) => (
                <li key={one.id}>
                  <Folded first={at === 0} question={one}>
                    {question(one.id)}
                  </Folded>
                </li>
              ))}
              {open.hasNextPage ? (
                <li>
                  <Button busy={open.isFetchingNextPage} onClick={() => void open.fetchNextPage()}>
                    {t('common.more')}
                  </Button>
                </li>
              ) : null}
            </ul>
          </Section>
        ) : null}
        <Steps session={session} />
        <Timeline session={session} />
      </div>
    </Page>
  );
}

/**
 * All questions that were open at any time since the page was opened. An ended question stays in its place and shows
 * its result, so that no other question moves under the pointer and unfinished input stays where it is.
 */
function useOpened(pending: Interaction[]): Interaction[] {
  const opened = useRef(new Map<string, Interaction>());
  for (const one of pending) if (!opened.current.has(one.id)) opened.current.set(one.id, one);
  return [...opened.current.values()];
}

/** The oldest question is expanded; the others are collapsed. */
function Folded({ first, question, children }: { first: boolean; question: Interaction; children: ReactNode }) {
  const { t } = useTranslation();
  const [seen, setSeen] = useState(false);
  const line = callLine(question.action);
  if (first) return <Card className="border-accent/40">{children}</Card>;
  return (
    <Card>
      <details onToggle={(event) => setSeen((was) => was || event.currentTarget.open)}>
        <summary className="px-4 py-3 font-medium hover:bg-hover">
          <AgentLine text={titleOf(t, question)} />
          {line ? <CallInLine line={line} /> : null}
        </summary>
        {seen ? children : null}
      </details>
    </Card>
  );
}
