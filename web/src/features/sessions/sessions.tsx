import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { type SessionFilter, sessionsQuery } from '@/api/queries';
import type { Session } from '@/api/types';
import { sessionName } from '@/model/labels';
import { AgentLine } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Input, Select } from '@/ui/field';
import { Card, Empty, Page, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { SessionBadge } from '@/ui/status';
import { Ago } from '@/ui/time';

const STATUSES = ['new', 'running', 'waiting_user_input', 'paused', 'completed', 'failed', 'cancelled'] as const;

interface Props {
  filter: SessionFilter;
  onFilter: (change: SessionFilter) => void;
}

/** Every session of the project, the newest first. */
export function Sessions({ filter, onFilter }: Props) {
  const { t } = useTranslation();
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = useInfiniteQuery(
    sessionsQuery(filter),
  );
  const sessions = data?.pages.flatMap((page) => page.sessions) ?? [];
  return (
    <Page
      title={t('nav.sessions')}
      about={t('sessions.about')}
      actions={
        <>
          <Input
            type="search"
            className="w-44! max-sm:min-w-0 max-sm:flex-1"
            aria-label={t('inbox.agent')}
            placeholder={t('inbox.agent')}
            defaultValue={filter.agent ?? ''}
            onChange={(event) => onFilter({ agent: event.target.value || undefined })}
          />
          <Select
            className="w-auto!"
            aria-label={t('inbox.status')}
            value={filter.status ?? ''}
            onChange={(event) => onFilter({ status: (event.target.value || undefined) as SessionFilter['status'] })}
          >
            <option value="">{t('sessions.every')}</option>
            {STATUSES.map((status) => (
              <option key={status} value={status}>
                {t(`sessionStatus.${status}`)}
              </option>
            ))}
          </Select>
        </>
      }
    >
      {error && !data ? <ProblemNotice error={error} again={() => void refetch()} /> : null}
      {isPending ? <Waiting rows={6} label={t('common.loading')} /> : null}
      {data && sessions.length === 0 ? (
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
      {hasNextPage ? (
        <div className="mt-4 text-center">
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {t('common.more')}
          </Button>
        </div>
      ) : null}
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
