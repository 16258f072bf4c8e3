import type { SessionEvent } from '@/api/types';

// Events that only repeat another event of the same moment.
const NOISE = ['action.waiting', 'delivery.taken', 'delivery.not_needed'];

// Parts of a message that arrive while the model generates it.
const MESSAGE_PARTS = ['model.said', 'model.thought'];

/** The events of a session, the oldest first, without repetition. */
export function timeline(events: readonly SessionEvent[]): SessionEvent[] {
  const ended = new Set(events.filter((event) => event.type === 'model.turn').map(turnOf));
  // A restarted turn makes its earlier parts void.
  const anew = new Map<string, number>();
  for (const event of events) if (event.type === 'model.again') anew.set(turnOf(event), event.seq);
  const shown = events
    .filter((event) => !NOISE.includes(event.type))
    .filter((event) => !(MESSAGE_PARTS.includes(event.type) && ended.has(turnOf(event))))
    .filter((event) => !(MESSAGE_PARTS.includes(event.type) && event.seq < (anew.get(turnOf(event)) ?? 0)));
  return whole(shown);
}

/** Joins the parts of a model's message that arrive while it is generated. */
function whole(events: readonly SessionEvent[]): SessionEvent[] {
  const made: SessionEvent[] = [];
  for (const event of events) {
    const last = made.at(-1);
    if (last && MESSAGE_PARTS.includes(event.type) && last.type === event.type && turnOf(last) === turnOf(event)) {
      const text = (one: SessionEvent) => (one.data as { text?: string }).text ?? '';
      made[made.length - 1] = { ...last, data: { ...(last.data as object), text: text(last) + text(event) } };
    } else made.push(event);
  }
  return made;
}

function turnOf(event: SessionEvent): string {
  return `${event.step} ${(event.data as { turn?: number }).turn}`;
}

// Events that explain how a question came about; other events are internal.
const TOLD = [
  'session.started',
  'message.sent',
  'model.turn',
  'action.allowed',
  'action.denied',
  'action.rejected',
  'action.done',
  'action.failed',
  'action.unknown',
  'interaction.answered',
  'interaction.auto_resolved',
  'interaction.expired',
];

/** The last turns before a question, oldest first. Model turns without text are left out. */
export function lastTurns(before: readonly SessionEvent[], most = 6): SessionEvent[] {
  // The outcome of a call also shows that it was allowed, so the allowed event is left out.
  const done = new Set(before.filter(({ type }) => /^action\.(done|failed|unknown)$/u.test(type)).map(callOf));
  return before
    .filter((event) => TOLD.includes(event.type))
    .filter((event) => event.type !== 'model.turn' || Boolean((event.data as { text?: string }).text?.trim()))
    .filter((event) => event.type !== 'action.allowed' || !done.has(callOf(event)))
    .slice(-most);
}

/** Titles of questions by id, for events that carry only the id. */
export function titlesOf(events: readonly SessionEvent[]): Map<string, string> {
  const titles = new Map<string, string>();
  for (const { type, interaction, data } of events) {
    const { title, tool } = data as { title?: string; tool?: string };
    const asked = title ?? tool;
    if (type === 'interaction.asked' && interaction && asked) titles.set(interaction, asked);
  }
  return titles;
}

/** The agent's name for the call that an event is about. */
export function callOf(event: SessionEvent): string | undefined {
  const id = (event.data as { call_id?: unknown }).call_id;
  return typeof id === 'string' ? id : undefined;
}

/** Tone of an event in the timeline. */
export function toneOf(type: string): 'plain' | 'good' | 'warn' | 'danger' | 'accent' {
  if (['action.done', 'session.completed', 'action.allowed', 'delivery.completed', 'step.completed'].includes(type))
    return 'good';
  if (
    [
      'action.failed',
      'action.denied',
      'action.rejected',
      'session.failed',
      'step.failed',
      'model.failed',
      'delivery.failed',
    ].includes(type)
  )
    return 'danger';
  if (['interaction.asked', 'interaction.answered', 'interaction.voted'].includes(type)) return 'accent';
  if (/expired|overdue|warned|unknown|paused|cancelled|troubled|sent_back|again/u.test(type)) return 'warn';
  return 'plain';
}
