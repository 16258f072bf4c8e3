import type { Proposal, SessionEvent } from '@/api/types';

/** One place in the timeline: an event, and the call that it is about. */
export interface Turn {
  event: SessionEvent;
  call?: Proposal;
}

// These only repeat what another event of the same moment says better.
const NOISE = ['delivery.heartbeat', 'action.waiting', 'delivery.taken', 'delivery.not_needed', 'model.again'];

const PORTIONS = ['model.said', 'model.thought'];

/** The events of a session with the calls beside them, the oldest first, without repetition. */
export function timeline(events: readonly SessionEvent[], calls: readonly Proposal[]): Turn[] {
  const byId = new Map(calls.map((call) => [call.call_id, call]));
  const ended = new Set(events.filter((event) => event.type === 'model.turn').map(turnOf));
  // A turn that is begun anew takes back what was told of it before.
  const anew = new Map<string, number>();
  for (const event of events) if (event.type === 'model.again') anew.set(turnOf(event), event.seq);
  return (
    events
      .filter((event) => !NOISE.includes(event.type))
      // What a model says comes in portions while it speaks, and whole when it is done.
      .filter((event) => !(PORTIONS.includes(event.type) && ended.has(turnOf(event))))
      .filter((event) => !(PORTIONS.includes(event.type) && event.seq < (anew.get(turnOf(event)) ?? 0)))
      .map((event) => {
        const id = (event.data as { call_id?: unknown }).call_id;
        return { event, call: typeof id === 'string' ? byId.get(id) : undefined };
      })
  );
}

function turnOf(event: SessionEvent): string {
  return `${event.step} ${(event.data as { turn?: number }).turn}`;
}

/** How an event looks at a glance. */
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
  if (/expired|overdue|warned|unknown|paused|cancelled|troubled|sent_back/u.test(type)) return 'warn';
  return 'plain';
}
