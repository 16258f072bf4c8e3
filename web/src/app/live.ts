import type { Query, QueryClient } from '@tanstack/react-query';
import { create } from 'zustand';
import { readReply } from '@/api/client';
import { heardKey } from '@/api/events';
import type { SessionEvent } from '@/api/types';
import { hear } from './share';
import type { Word } from './stream';

export type Connection = 'connecting' | 'open' | 'lost' | 'signed-out';

/** State of the live connection, and the time since it was lost. */
export const useConnection = create<{ state: Connection; since: number }>(() => ({ state: 'connecting', since: 0 }));

interface Options {
  /** Identifies the person and project of the events. Tabs with equal values share one connection. */
  whose: string;
  cache: QueryClient;
  heard: (event: SessionEvent) => void;
}

/**
 * Follows the events of the project while the page is open. An event only determines which data is read again: the page
 * always shows data that the server returned.
 */
export function follow({ whose, cache, heard }: Options): () => void {
  const stop = new AbortController();
  const refresh = gather(cache);
  hear(whose, stop.signal, (word) => {
    if (stop.signal.aborted) return;
    if (word.is === 'event') {
      const event = read(word.json);
      if (!event) return;
      refresh(event);
      heard(event);
    } else if (word.is !== 'alive') connected(cache, word.is);
  });
  return () => stop.abort();
}

function connected(cache: QueryClient, state: Exclude<Word['is'], 'event' | 'alive'>): void {
  const before = useConnection.getState().state;
  if (state !== 'lost' || before !== 'lost') useConnection.setState({ state, since: Date.now() });
  // Events before this moment may have been missed, so all data is read again. Later events are in the stream.
  if (state === 'open') reread(cache);
  if (state === 'signed-out') void cache.invalidateQueries({ queryKey: ['me'] });
}

function read(json: string): SessionEvent | undefined {
  try {
    const value = readReply(json);
    return typeof value === 'object' && value !== null && 'seq' in value ? (value as SessionEvent) : undefined;
  } catch {
    return undefined;
  }
}

/** Invalidates the cache after events; events within a moment are combined into one refetch. */
export function gather(cache: QueryClient, wait = 120): (event: SessionEvent) => void {
  let touched = new Set<string>();
  let waiting = false;
  const flush = () => {
    waiting = false;
    const now = touched;
    touched = new Set();
    const lists = ['interactions', 'sessions', 'stats', ...(now.has('grants') ? ['grants'] : [])];
    reread(cache, ({ queryKey: [name, id] }) => lists.includes(String(name)) || now.has(`${name} ${id}`));
  };
  return (event) => {
    append(cache, event);
    touched.add(`session ${event.session}`);
    const call = (event.data as { call_id?: unknown }).call_id;
    if (typeof call === 'string') touched.add(`action ${event.session} ${call}`);
    for (const name of event.interaction ? ['interaction', 'about'] : []) touched.add(`${name} ${event.interaction}`);
    if (event.type.startsWith('grant.') || event.type === 'interaction.answered') touched.add('grants');
    if (waiting) return;
    waiting = true;
    setTimeout(flush, wait);
  };
}

/**
 * Reads matching queries again. A query that is just being read for the first time may return data from before the
 * change, so it is read once more when it is done.
 */
function reread(cache: QueryClient, predicate: (query: Query) => boolean = () => true): void {
  const first = cache
    .getQueryCache()
    .findAll({ fetchStatus: 'fetching', predicate })
    .filter(({ state }) => state.data === undefined);
  void cache.invalidateQueries({ predicate });
  for (const { promise, queryKey } of first) {
    const then = () => cache.invalidateQueries({ queryKey, exact: true });
    void promise?.then(then, then);
  }
}

function append(cache: QueryClient, event: SessionEvent): void {
  const key = ['session-events', event.session];
  // A read in progress may have begun before this event, and its result will replace the list.
  if (cache.getQueryState(key)?.fetchStatus === 'fetching')
    cache.setQueryData<number>(heardKey(event.session), (heard = 0) => Math.max(heard, event.seq));
  const known = cache.getQueryData<SessionEvent[]>(key);
  if (!known) return;
  const last = known.at(-1)?.seq ?? 0;
  if (event.seq === last + 1) cache.setQueryData(key, [...known, event]);
  else if (event.seq > last) void cache.invalidateQueries({ queryKey: key });
}
