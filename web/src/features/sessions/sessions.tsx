import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { MessagesSquare, SearchX } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { type SessionFilter, sessionsQuery } from '@/api/queries';
import type { Session } from '@/api/types';
import { sessionName } from '@/model/labels';
import { AgentLine } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { More } from '@/ui/more';
import { Card, Empty, Page, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { SessionBadge } from '@/ui/status';
import { Ago } from '@/ui/time';
import { Filters } from './filters';

interface Props {
  filter: SessionFilter;
  onFilter: (change: SessionFilter) => void;
}

/** List of the sessions of the project, newest first. */
export function Sessions({ filter, onFilter }: Props) {
  const { t } = useTranslation();
  const query = useInfiniteQuery(sessionsQuery(filter));
  const { data, error, isPending, refetch } = query;
  const sessions = data?.pages.flatMap((page) => page.sessions) ?? [];
  const none = data !== undefined && sessions.length === 0;
  const filtered = filter.agent !== undefined || filter.status !== undefined;
  return (
    <Page
      title={t('nav.sessions')}
      about={t('sessions.about')}
      actions={<Filters filter={filter} onFilter={onFilter} />}
    >
      {error && !data ? <ProblemNotice error={error} again={() => void refetch()} /> : null}
      {isPending ? <Waiting rows={6} label={t('common.loading')} /> : null}
      {none && filtered ? (
        <Empty icon={SearchX} title={t('sessions.noneFound')}>
          <Button onClick={() => onFilter({ agent: undefined, status: undefined })}>{t('sessions.showAll')}</Button>
        </Empty>
      ) : null}
      {none && !filtered ? (
        <Empty icon={MessagesSquare} title={t('sessions.none')}>
          <p>{t('sessions.noneText')}</p>
        </Empty>
      ) : null}
      {sessions.length > 0 ? (
        <Card>
          <ul className="divide-y">
            {sessions.map((session) => (
              <Row key={session.id} session={session} />
            ))}
          </ul>
        </Card>
      ) : null}
      <More query={query} />
    </Page>
  );
}

function Row({ session }: { session: Session }) {
  const { t } = useTranslation();
  return (
    <li className="relative flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3 first:rounded-t-lg last:rounded-b-lg hover:bg-hover">
      <div className="min-w-0 flex-1 basis-60">
        <Link
          to="/sessions/$session"
          params={{ session: session.id }}
          className="block truncate font-medium before:absolute before:inset-0 before:content-['']"
        >
          <AgentLine text={sessionName(t, session)} />
        </Link>
        <div className="truncate text-muted text-sm">
          <AgentLine text={session.agent ?? session.flow ?? session.started_by.name} />
          {' · '}
          <Ago at={session.created_at} />
        </div>
      </div>
      {session.waiting_on > 0 ? (
        <Badge tone="accent">{t('sessions.waitingOn', { count: session.waiting_on })}</Badge>
      ) : null}
      <SessionBadge status={session.status} />
    </li>
  );
}
