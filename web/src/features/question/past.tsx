import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { aboutQuery, beforeQuery } from '@/api/events';
import { actionQuery } from '@/api/queries';
import type { Interaction, SessionEvent } from '@/api/types';
import { callLine } from '@/model/subject';
import { callOf, lastTurns, titlesOf } from '@/model/timeline';
import { AgentText } from '@/ui/agent-text';
import { MoreArguments } from '@/ui/call';
import { EventLine, type Particulars } from '@/ui/event-line';
import { Section } from '@/ui/page';

const TURNS = 6;

/** The last turns before the question, regardless of later events; undefined while loading. */
function useTurns({ id, session }: Interaction): { turns: SessionEvent[]; titles: Map<string, string> } | undefined {
  const { data: own } = useQuery(aboutQuery(session, id));
  const asked = own?.find((event) => event.type === 'interaction.asked')?.seq;
  const enough = (events: SessionEvent[]) => lastTurns(events, TURNS).length === TURNS;
  const { data: events } = useQuery({ ...beforeQuery(session, asked ?? 1, enough), enabled: asked !== undefined });
  return events && { turns: lastTurns(events, TURNS), titles: titlesOf(events) };
}

/** Recent events of the session before the question. */
export function EarlierEvents({ question }: { question: Interaction }) {
  const { t } = useTranslation();
  const before = useTurns(question);
  if (before === undefined || before.turns.length === 0) return null;
  return (
    <Section level={3} title={t('question.before')}>
      <ul>
        {before.turns.map((event) => (
          <Turn key={event.id} event={event} about={before.titles.get(event.interaction ?? '')} />
        ))}
      </ul>
    </Section>
  );
}

/** One event with its text or call. */
function Turn({ event, about }: { event: SessionEvent; about?: string }) {
  const { text, content } = event.data as Particulars;
  const said = text || content;
  const id = callOf(event);
  const { data: call } = useQuery({ ...actionQuery(event.session, id ?? ''), enabled: id !== undefined });
  const line = callLine(call);
  return (
    <EventLine event={event} about={about}>
      {said ? <AgentText text={said} lines={3} characters={280} /> : null}
      {line ? <AgentText mono text={line.text} lines={3} characters={280} className="text-muted" /> : null}
      {line ? <MoreArguments line={line} /> : null}
    </EventLine>
  );
}

/** Events of this question. */
export function History({ question }: { question: Interaction }) {
  const { t } = useTranslation();
  const { data: own } = useQuery(aboutQuery(question.session, question.id));
  if (!own?.length) return null;
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
