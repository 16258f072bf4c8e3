import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { earlierEvents, eventsQuery } from '@/api/events';
import { actionQuery } from '@/api/queries';
import type { Session, SessionEvent } from '@/api/types';
import { cn } from '@/lib/cn';
import { reasonOf } from '@/model/labels';
import { callLine } from '@/model/subject';
import { callOf, timeline, titlesOf, toneOf } from '@/model/timeline';
import { AgentLine, AgentText } from '@/ui/agent-text';
import { Button } from '@/ui/button';
import { MoreArguments } from '@/ui/call';
import { EventIcon, EventWords, type Particulars } from '@/ui/event-line';
import { JsonTable } from '@/ui/json';
import { Section, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { Ago } from '@/ui/time';

const TONES = {
  plain: 'bg-hover text-muted',
  good: 'bg-good-soft text-good-ink',
  warn: 'bg-warn-soft text-warn-ink',
  danger: 'bg-danger-soft text-danger-ink',
  accent: 'bg-accent-soft text-accent-ink',
};

/** Latest events of a session, updated live; earlier ones load on request. */
export function Timeline({ session }: { session: Session }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { data: events, error, refetch } = useQuery(eventsQuery(session.id));
  const earlier = useMutation({ mutationFn: () => earlierEvents(cache, session.id) });
  if (!events && error) return <ProblemNotice error={error} again={() => void refetch()} />;
  if (!events) return <Waiting rows={6} label={t('common.loading')} />;
  const before = (events[0]?.seq ?? 1) - 1;
  const titles = titlesOf(events);
  return (
    <Section title={t('session.timeline')}>
      {before > 0 ? (
        <Button size="sm" className="mb-4" busy={earlier.isPending} onClick={() => earlier.mutate()}>
          {t('session.earlier', { count: before })}
        </Button>
      ) : null}
      {earlier.error ? <ProblemNotice error={earlier.error} /> : null}
      <ol aria-live="polite" aria-relevant="additions" className="relative space-y-5 pl-10">
        <span aria-hidden="true" className="absolute top-2 bottom-2 left-3.5 w-px bg-line" />
        {timeline(events).map((event) => (
          <Entry key={event.id} event={event} about={titles.get(event.interaction ?? '')} />
        ))}
      </ol>
    </Section>
  );
}

// Events for which the call adds information.
const WITH_CALL = /^action\.(allowed|denied|rejected|done|failed)$/u;

function Entry({ event, about }: { event: SessionEvent; about?: string }) {
  const { t } = useTranslation();
  const data = event.data as Particulars;
  const id = callOf(event);
  const { data: call } = useQuery({
    ...actionQuery(event.session, id ?? ''),
    enabled: id !== undefined && WITH_CALL.test(event.type),
  });
  const line = callLine(call);
  return (
    <li className="relative">
      <span
        className={cn(
          'absolute -left-10 grid size-7 place-items-center rounded-full ring-4 ring-page',
          TONES[toneOf(event.type)],
        )}
      >
        <EventIcon type={event.type} className="size-3.5" />
      </span>
      <div className="flex items-baseline justify-between gap-3">
        <div className="min-w-0">
          {event.interaction ? (
            <Link
              to="/inbox/$interaction"
              params={{ interaction: event.interaction }}
              className="underline-offset-2 hover:underline"
            >
              <EventWords event={event} about={about} />
            </Link>
          ) : (
            <EventWords event={event} about={about} />
          )}
          {data.by?.name ? (
            <span className="text-muted text-sm">
              {' · '}
              <AgentLine text={data.by.name} />
            </span>
          ) : null}
        </div>
        <Ago at={event.at} className="text-muted text-xs" />
      </div>
      {data.thinking ? (
        <details className="mt-1">
          <summary className="text-muted text-sm">{t('session.thought')}</summary>
          <AgentText text={data.thinking} className="mt-1 text-muted text-sm" />
        </details>
      ) : null}
      {data.text || data.content ? <AgentText text={data.text || data.content || ''} className="mt-1" /> : null}
      {data.output !== undefined && data.output !== null ? (
        <div className="mt-1 rounded-md border bg-surface px-3 py-1.5">
          <JsonTable value={data.output} />
        </div>
      ) : null}
      {data.reason ? <AgentText text={reasonOf(t, data.reason)} className="text-muted text-sm" lines={4} /> : null}
      {line && /allowed|denied|rejected/u.test(event.type) ? (
        <div className="mt-1 rounded-md bg-sunken px-2.5 py-1.5">
          <AgentText mono text={line.text} lines={6} characters={600} />
          <MoreArguments line={line} />
        </div>
      ) : null}
      {call && event.type === 'action.done' && call.result !== undefined && call.result !== null ? (
        <details className="mt-1">
          <summary className="text-muted text-sm">{t('session.result')}</summary>
          <div className="mt-1 rounded-md border bg-surface px-3 py-1.5">
            <JsonTable value={call.result} />
          </div>
        </details>
      ) : null}
      {call?.message && event.type === 'action.failed' ? (
        <AgentText mono text={call.message} className="mt-1 text-danger-ink" />
      ) : null}
    </li>
  );
}
