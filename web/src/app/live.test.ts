import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { api } from '@/api/client';
import { beforeQuery, eventsQuery } from '@/api/events';
import type { SessionEvent } from '@/api/types';
import { gather } from './live';

const event = (seq: number, more: Partial<SessionEvent> = {}) =>
  ({ id: `evt_${seq}`, seq, type: 'action.done', session: 'ses_1', at: '', data: {}, ...more }) as SessionEvent;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the next event of a cached session is appended, and other sessions stay unchanged', () => {
  const cache = new QueryClient();
  cache.setQueryData(['session-events', 'ses_1'], [event(1)]);
  const heard = gather(cache);
  heard(event(2));
  heard(event(1, { session: 'ses_2' }));
  expect(cache.getQueryData(['session-events', 'ses_1'])).toEqual([event(1), event(2)]);
  expect(cache.getQueryData(['session-events', 'ses_2'])).toBeUndefined();
});

test('a repeated event changes nothing, and a gap in the numbers is read again', () => {
  const cache = new QueryClient();
  cache.setQueryData(['session-events', 'ses_1'], [event(1), event(2)]);
  const heard = gather(cache);
  heard(event(2));
  expect(cache.getQueryState(['session-events', 'ses_1'])?.isInvalidated).toBe(false);
  heard(event(5));
  expect(cache.getQueryData(['session-events', 'ses_1'])).toEqual([event(1), event(2)]);
  expect(cache.getQueryState(['session-events', 'ses_1'])?.isInvalidated).toBe(true);
});

test('many events within 100 ms cause one refetch of the affected queries', () => {
  const cache = new QueryClient();
  for (const key of [['interactions', {}], ['interaction', 'int_1'], ['interaction', 'int_2'], ['policy']])
    cache.setQueryData(key, {});
  const reads = vi.spyOn(cache, 'invalidateQueries');
  const heard = gather(cache, 100);
  for (let seq = 1; seq <= 20; seq += 1) heard(event(seq, { interaction: 'int_1' }));
  vi.advanceTimersByTime(100);
  expect(reads).toHaveBeenCalledTimes(1);
  const stale = (key: unknown[]) => cache.getQueryState(key)?.isInvalidated;
  expect([
    stale(['interactions', {}]),
    stale(['interaction', 'int_1']),
    stale(['interaction', 'int_2']),
    stale(['policy']),
  ]).toEqual([true, true, false, false]);
});

test('a query that is invalidated during its first read is read again', async () => {
  vi.useRealTimers();
  const cache = new QueryClient();
  const replies: ((value: string) => void)[] = [];
  const reading = new QueryObserver(cache, {
    queryKey: ['interaction', 'int_1'],
    queryFn: () => new Promise<string>((reply) => replies.push(reply)),
  });
  const stop = reading.subscribe(() => undefined);
  gather(cache, 0)(event(1, { interaction: 'int_1' }));
  await vi.waitFor(() => expect(cache.getQueryState(['interaction', 'int_1'])?.isInvalidated).toBe(true));
  expect(replies.length).toBe(1);
  replies[0]?.('open');
  await vi.waitFor(() => expect(replies.length).toBe(2));
  replies[1]?.('answered');
  await vi.waitFor(() => expect(cache.getQueryData(['interaction', 'int_1'])).toBe('answered'));
  stop();
});

test.each([
  ['first', []],
  ['next', [1, 2]],
])('an event during a slow %s reading of a session is not lost', async (_, known) => {
  vi.useRealTimers();
  const cache = new QueryClient();
  const key = ['session-events', 'ses_1'];
  if (known.length > 0)
    cache.setQueryData(
      key,
      known.map((seq) => event(seq)),
    );
  const all = [event(1), event(2), event(3)];
  const heard = gather(cache);
  const reads: number[] = [];
  const got = (data: object) => Promise.resolve({ data, response: new Response() }) as never;
  const calls = vi.spyOn(api, 'GET').mockImplementation(((
    path: string,
    init: { params: { query: { after: number } } },
  ) => {
    if (!path.endsWith('/events')) return got({ last_seq: all.length });
    const { after } = init.params.query;
    reads.push(after);
    const events = all.filter(({ seq }) => seq > after);
    // The change happens after the server prepared its response and before the response arrives.
    if (reads.length === 1) {
      all.push(event(4));
      heard(event(4));
    }
    return got({ events });
  }) as never);
  await cache.fetchQuery(eventsQuery('ses_1'));
  calls.mockRestore();
  expect(cache.getQueryData<SessionEvent[]>(key)?.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  expect(reads).toEqual([known.length, 3]);
});

test('earlier events are read backwards from an event until there are enough', async () => {
  vi.useRealTimers();
  const cache = new QueryClient();
  const reads: number[][] = [];
  const calls = vi.spyOn(api, 'GET').mockImplementation(((
    _: string,
    { params: { query } }: { params: { query: { after: number; limit: number } } },
  ) => {
    reads.push([query.after, query.limit]);
    const events = Array.from({ length: query.limit }, (_, at) => event(query.after + 1 + at));
    return Promise.resolve({ data: { events }, response: new Response() });
  }) as never);
  const read = async (seq: number, enough: number) => {
    const found = await cache.fetchQuery(beforeQuery('ses_1', seq, (events) => events.length >= enough));
    return [found[0]?.seq, found.at(-1)?.seq, found.length];
  };
  expect(await read(5000, 100)).toEqual([4740, 4999, 260]);
  expect(await read(100, 500)).toEqual([1, 99, 99]);
  expect(await read(1, 500)).toEqual([undefined, undefined, 0]);
  calls.mockRestore();
  expect(reads).toEqual([
    [4939, 60],
    [4739, 200],
    [39, 60],
    [0, 39],
  ]);
});
