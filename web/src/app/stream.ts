import { createParser } from 'eventsource-parser';

const SILENCE = 40_000;
const PAUSES = [300, 1000, 2000, 4000, 8000];

/** Message of the stream reader: an event with its cursor, a heartbeat, or the connection state. */
export type Word =
  | { is: 'event'; id: string; json: string }
  | { is: 'alive' }
  | { is: 'open' }
  | { is: 'lost' }
  | { is: 'signed-out' };

/** Reads the project's events from a cursor until stopped or refused, and reconnects when needed. */
export async function readStream(cursor: string, stop: AbortSignal, say: (word: Word) => void): Promise<void> {
  let place = cursor;
  let failures = 0;
  while (!stop.aborted) {
    const ended = await connect(place, stop, (word) => {
      if (word.is === 'event' && word.id) place = word.id;
      say(word);
    });
    if (stop.aborted) return;
    if (ended === 'refused') return say({ is: 'signed-out' });
    failures = ended === 'ended' ? 0 : failures + 1;
    say({ is: 'lost' });
    await pause(PAUSES[Math.min(failures, PAUSES.length - 1)] ?? 8000, stop);
  }
}

async function connect(
  cursor: string,
  stop: AbortSignal,
  say: (word: Word) => void,
): Promise<'ended' | 'failed' | 'refused'> {
  const silent = new AbortController();
  let watch = setTimeout(() => silent.abort(), SILENCE);
  const alive = () => {
    clearTimeout(watch);
    watch = setTimeout(() => silent.abort(), SILENCE);
    say({ is: 'alive' });
  };
  try {
    const response = await fetch('/v1/events/stream', {
      headers: cursor === '' ? {} : { 'Last-Event-ID': cursor },
      signal: AbortSignal.any([stop, silent.signal]),
      credentials: 'same-origin',
      cache: 'no-store',
    });
    if (response.status === 401) return 'refused';
    if (!response.ok || !response.body) return 'failed';
    say({ is: 'open' });
    const parser = createParser({ onEvent: ({ id = '', data }) => say({ is: 'event', id, json: data }) });
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
