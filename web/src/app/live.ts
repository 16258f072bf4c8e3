import type { QueryClient } from '@tanstack/react-query';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { create } from 'zustand';
import type { SessionEvent } from '@/api/types';

export type Connection = 'connecting' | 'open' | 'lost' | 'signed-out';

/** How the page hears of changes, and since when it does not. */
export const useConnection = create<{ state: Connection; since: number }>(() => ({ state: 'connecting', since: 0 }));

const SILENCE = 40_000;
const PAUSES = [300, 1000, 2000, 4000, 8000];

interface Options {
  cache: QueryClient;
  heard: (event: SessionEvent) => void;
}

/**
 * Follows the events of the project from a cursor for as long as the page lives. What is shown always comes from the
 * server's state: an event only says what to read again.
 */
export function follow({ cache, heard }: Options): () => void {
  const stop = new AbortController();
  void loop(cache, heard, stop.signal);
  return () => stop.abort();
}

async function loop(cache: QueryClient, heard: Options['heard'], stop: AbortSignal): Promise<void> {
  const cursor = { value: '' };
  const refresh = gather(cache);
  let failures = 0;
  while (!stop.aborted) {
    const opened = await connect(
      cursor,
      stop,
      (message) => {
        if (message.id) cursor.value = message.id;
        const event = read(message);
        if (event) {
          refresh(event);
          heard(event);
        }
      },
      () => {
        // What happened before this moment is read again once; what comes after it is in the stream.
        useConnection.setState({ state: 'open', since: Date.now() });
        void cache.invalidateQueries();
      },
    );
    if (stop.aborted) return;
    if (opened === 'refused') {
      useConnection.setState({ state: 'signed-out', since: Date.now() });
      void cache.invalidateQueries({ queryKey: ['me'] });
      return;
    }
    failures = opened === 'ended' ? 0 : failures + 1;
    if (useConnection.getState().state !== 'lost') useConnection.setState({ state: 'lost', since: Date.now() });
    await pause(PAUSES[Math.min(failures, PAUSES.length - 1)] ?? 8000, stop);
  }
}

async function connect(
  cursor: { value: string },
  stop: AbortSignal,
  each: (message: EventSourceMessage) => void,
  opened: () => void,
): Promise<'ended' | 'failed' | 'refused'> {
  const silent = new AbortController();
  let watch = setTimeout(() => silent.abort(), SILENCE);
  const alive = () => {
    clearTimeout(watch);
    watch = setTimeout(() => silent.abort(), SILENCE);
  };
  try {
    const response = await fetch('/v1/events/stream', {
      headers: cursor.value === '' ? {} : { 'Last-Event-ID': cursor.value },
      signal: AbortSignal.any([stop, silent.signal]),
      credentials: 'same-origin',
      cache: 'no-store',
    });
    if (response.status === 401) return 'refused';
    if (!response.ok || !response.body) return 'failed';
    opened();
    const parser = createParser({ onEvent: each, onComment: alive });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return 'ended';
      alive();
      parser.feed(value);
    }
  } catch {
    return 'failed';
  } finally {
    clearTimeout(watch);
  }
}

function read(message: EventSourceMessage): SessionEvent | undefined {
  try {
    const value: unknown = JSON.parse(message.data);
    return typeof value === 'object' && value !== null && 'seq' in value ? (value as SessionEvent) : undefined;
  } catch {
    return undefined;
  }
}

/** Tells the cache what has changed; many events within a moment are one round of reading. */
export function gather(cache: QueryClient, wait = 120): (event: SessionEvent) => void {
  let touched = new Set<string>();
  let waiting = false;
  const flush = () => {
    waiting = false;
    const now = touched;
    touched = new Set();
    void cache.invalidateQueries({
      predicate: ({ queryKey: [name, id] }) =>
        name === 'interactions' || name === 'sessions' || name === 'stats' || now.has(`${name} ${id}`),
    });
    if (now.has('grants')) void cache.invalidateQueries({ queryKey: ['grants'] });
  };
  return (event) => {
    append(cache, event);
    touched.add(`session ${event.session}`);
    touched.add(`session-actions ${event.session}`);
    if (event.interaction) touched.add(`interaction ${event.interaction}`);
    if (event.type.startsWith('grant.') || event.type === 'interaction.answered') touched.add('grants');
    if (waiting) return;
    waiting = true;
    setTimeout(flush, wait);
  };
}

function append(cache: QueryClient, event: SessionEvent): void {
  const key = ['session-events', event.session];
  const known = cache.getQueryData<SessionEvent[]>(key);
  if (!known) return;
  const last = known.at(-1)?.seq ?? 0;
  if (event.seq === last + 1) cache.setQueryData(key, [...known, event]);
  else if (event.seq > last) void cache.invalidateQueries({ queryKey: key });
}

function pause(milliseconds: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    function done() {
      clearTimeout(timer);
      stop.removeEventListener('abort', done);
      removeEventListener('online', done);
      resolve();
    }
    stop.addEventListener('abort', done);
    addEventListener('online', done);
  });
}
