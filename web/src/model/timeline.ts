import type { Proposal, SessionEvent } from '@/api/types';

/** One place in the timeline: an event, and the call that it is about. */
export interface Turn {
  event: SessionEvent;
  call?: Proposal;
}

// These only repeat what another event of the same moment says better.
const NOISE = ['delivery.heartbeat', 'action.waiting', 'delivery.taken'];

/** The events of a session with the calls beside them, the oldest first, without repetition. */
export function timeline(events: readonly SessionEvent[], calls: readonly Proposal[]): Turn[] {
  const byId = new Map(calls.map((call) => [call.call_id, call]));
  return events
    .filter((event) => !NOISE.includes(event.type))
    .map((event) => {
      const id = (event.data as { call_id?: unknown }).call_id;
      return { event, call: typeof id === 'string' ? byId.get(id) : undefined };
    });
}

/** How an event looks at a glance. */
export function toneOf(type: string): 'plain' | 'good' | 'warn' | 'danger' | 'accent' {
  if (['action.done', 'session.completed', 'action.allowed', 'delivery.completed'].includes(type)) return 'good';
  if (['action.failed', 'action.denied', 'action.rejected', 'session.failed', 'delivery.failed'].includes(type))
    return 'danger';
  if (['interaction.asked', 'interaction.answered', 'interaction.voted'].includes(type)) return 'accent';
  if (/expired|overdue|warned|unknown|paused|cancelled/u.test(type)) return 'warn';
  return 'plain';
}
