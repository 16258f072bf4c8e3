import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { eventsQuery } from '@/api/queries';
import type { Interaction } from '@/api/types';
import { EventLine } from '@/ui/event-line';
import { Section } from '@/ui/page';

const TURNS = [
  'action.done',
  'action.failed',
  'action.denied',
  'action.rejected',
  'interaction.answered',
  'session.started',
];

/** The last things that happened in the session before this was asked. */
export function Before({ question }: { question: Interaction }) {
  const { t } = useTranslation();
  const { data: events } = useQuery(eventsQuery(question.session));
  const asked = events?.find((event) => event.interaction === question.id)?.seq ?? Number.POSITIVE_INFINITY;
  const turns = events?.filter((event) => event.seq < asked && TURNS.includes(event.type)).slice(-4) ?? [];
  if (turns.length === 0) return null;
  return (
    <Section level={3} title={t('question.before')}>
      <ul>
        {turns.map((event) => (
          <EventLine key={event.id} event={event} />
        ))}
      </ul>
    </Section>
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
