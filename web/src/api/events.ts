import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { api, responseBody } from './client';
import type { SessionEvent } from './types';

const EVENTS = 60;
/** Maximum number of missed events to catch up with; after more the stream restarts at the end. */
const GAP = 600;

const eventsAfter = async (
  session: string,
  query: { after: number; limit: number; interaction?: string },
  signal?: AbortSignal,
) =>
  (await responseBody(api.GET('/v1/sessions/{session}/events', { params: { path: { session }, query }, signal })))
    .events;

/**
 * Key of the newest event that was received while the events of a session were being read. The read continues up to
 * that event.
 */
export const heardKey = (id: string) => ['session-heard', id];

/**
 * The last events of a session, without a gap. The live stream appends later events, and `earlierEvents` reads earlier
 * ones.
 */
export const eventsQuery = (id: string) =>
  queryOptions({
    queryKey: ['session-events', id],
    queryFn: async ({ client, signal }): Promise<SessionEvent[]> => {
      const { last_seq: end } = await responseBody(
        api.GET('/v1/sessions/{session}', { params: { path: { session: id } }, signal }),
      );
      const known = client.getQueryData<SessionEvent[]>(['session-events', id]) ?? [];
      const events = end - (known.at(-1)?.seq ?? 0) > GAP ? [] : [...known];
      for (;;) {
        const found = await eventsAfter(
          id,
          { after: events.at(-1)?.seq ?? Math.max(0, end - EVENTS), limit: 200 },
          signal,
        );
        events.push(...found);
        const heard = client.getQueryData<number>(heardKey(id)) ?? 0;
        if (found.length === 0 || (found.length < 200 && heard <= (events.at(-1)?.seq ?? 0))) return events;
      }
    },
  });

/** Reads the events before the loaded ones of a session. */
export async function earlierEvents(client: QueryClient, id: string): Promise<void> {
  const key = ['session-events', id];
  const first = client.getQueryData<SessionEvent[]>(key)?.[0]?.seq ?? 1;
  if (first <= 1) return;
  const count = Math.min(EVENTS, first - 1);
  const found = await eventsAfter(id, { after: first - 1 - count, limit: count });
  client.setQueryData<SessionEvent[]>(key, (known) =>
    known?.[0]?.seq === first ? [...found.filter((event) => event.seq < first), ...known] : known,
  );
}

/** Events of one question in its session. */
export const aboutQuery = (session: string, interaction: string) =>
  queryOptions({
    queryKey: ['about', interaction],
    queryFn: async ({ signal }): Promise<SessionEvent[]> => {
      const events: SessionEvent[] = [];
      for (;;) {
        const found = await eventsAfter(session, { interaction, after: events.at(-1)?.seq ?? 0, limit: 200 }, signal);
        events.push(...found);
        if (found.length < 200) return events;
      }
    },
  });

/** Maximum number of backward reads: 60 events first, then 200 each. */
const STRETCHES = 20;

/** Events of a session before a given one, read backwards until `enough`. The result never changes. */
export const beforeQuery = (session: string, seq: number, enough: (events: SessionEvent[]) => boolean) =>
  queryOptions({
    queryKey: ['before', session, seq],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<SessionEvent[]> => {
      let events: SessionEvent[] = [];
      let first = seq;
      for (let stretch = 0; stretch < STRETCHES && first > 1 && !enough(events); stretch += 1) {
        const count = Math.min(stretch === 0 ? EVENTS : 200, first - 1);
        const found = await eventsAfter(session, { after: first - 1 - count, limit: count }, signal);
        events = [...found, ...events];
        first -= count;
      }
      return events;
    },
  });
