import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { actionQuery, earlierEvents, eventsQuery } from '@/api/queries';
import type { Interaction, SessionEvent } from '@/api/types';
import { callLine } from '@/model/subject';
import { callOf, turnsBefore } from '@/model/timeline';
import { AgentText } from '@/ui/agent-text';
import { MoreArguments } from '@/ui/call';
import { EventLine, type Particulars } from '@/ui/event-line';
import { Section } from '@/ui/page';

const TURNS = 6;
/** How far back is looked for what was before a question: beyond that the session's own page tells more. */
const FAR = 1200;

/** The last turns before a question was asked: `far` where that is too long ago to look for, nothing while it is looked for. */
function useTurns(question: Interaction): SessionEvent[] | 'far' | undefined {
  const cache = useQueryClient();
  const { data: events } = useQuery(eventsQuery(question.session));
  const first = events?.[0];
  const turns = turnsBefore(events ?? [], question.id, TURNS);
  const more = first !== undefined && first.seq > 1 && (events?.length ?? 0) < FAR;
  const short = more && (turns?.length ?? 0) < TURNS;
  const from = first?.seq;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each stretch that has come
  useEffect(() => {
    if (short) void earlierEvents(cache, question.session).catch(() => undefined);
  }, [cache, question.session, short, from]);
  return turns ?? (first === undefined || more ? undefined : 'far');
}

/** The last things that happened in the session before this was asked. */
export function Before({ question }: { question: Interaction }) {
  const { t } = useTranslation();
  const turns = useTurns(question);
  if (turns === undefined || turns.length === 0) return null;
  return (
    <Section level={3} title={t('question.before')}>
      {turns === 'far' ? (
        <p className="text-muted text-sm">{t('question.far')}</p>
      ) : (
        <ul>
          {turns.map((event) => (
            <Turn key={event.id} event={event} />
          ))}
        </ul>
      )}
    </Section>
  );
}

/** One thing that happened: with what was said, or what was to be run. */
function Turn({ event }: { event: SessionEvent }) {
  const { text, content } = event.data as Particulars;
  const said = text || content;
  const id = callOf(event);
  const { data: call } = useQuery({ ...actionQuery(event.session, id ?? ''), enabled: id !== undefined });
  const line = callLine(call);
  return (
    <EventLine event={event}>
      {said ? <AgentText text={said} lines={3} characters={280} /> : null}
      {line ? <AgentText mono text={line.text} lines={3} characters={280} className="text-muted" /> : null}
      {line ? <MoreArguments line={line} /> : null}
    </EventLine>
  );
}

/** What has happened to this question. */
export function History({ question }: { question: Interaction }) {
  const { t } = useTranslation();
  const { data: events } = useQuery(eventsQuery(question.session));
  const own = events?.filter((event) => event.interaction === question.id) ?? [];
  if (own.length === 0) return null;
  return (
    <details className="group" open={question.status !== 'pending' || undefined}>
      <summary className="font-semibold text-muted text-sm">{t('question.history', { count: own.length })}</summary>
      <ul className="mt-1">
        {own.map((event) => (
          <EventLine key={event.id} event={event} />
        ))}
      </ul>
    </details>
  );
}
