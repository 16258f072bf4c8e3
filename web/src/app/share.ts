import { attemptKey } from '@/api/client';
import { readStream, type Word } from './stream';

const NAME = 'holdpoint-events';
const PATIENCE = { open: 60_000, lost: 12_000 };

/**
 * Message between tabs: a message of the stream reader, or the announcement of a new tab, which then receives the
 * current state.
 */
type TabMessage = (Word & { to?: string }) | { is: 'hello'; from: string };

/**
 * Receives the events of the project in all tabs through one connection, because a browser opens at most six
 * connections to a server over HTTP/1.1. One tab reads the stream and forwards it to the others. When that tab closes,
 * another one continues after the last event that it received. Tabs of another project or person have their own reader.
 */
export function hear(whose: string, stop: AbortSignal, onWord: (word: Word) => void): void {
  // Without the Web Locks API each visible tab reads the stream itself.
  if ('locks' in navigator && 'BroadcastChannel' in window) share(`${NAME} ${whose}`, stop, onWord);
  else alone(stop, onWord);
}

function share(name: string, stop: AbortSignal, onWord: (word: Word) => void): void {
  const channel = new BroadcastChannel(name);
  const self = attemptKey();
  let cursor = '';
  let state: Word = { is: 'lost' };
  let reading = false;
  let last = Date.now();
  const take = (word: Word) => {
    last = Date.now();
    if (word.is === 'event') cursor = word.id || cursor;
    else if (word.is !== 'alive') state = word;
    onWord(word);
  };
  const send = (message: TabMessage) => stop.aborted || channel.postMessage(message);
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.is === 'hello') {
      if (reading) send({ ...state, to: data.from });
    } else if (!reading && (data.to ?? self) === self) take(data);
  };
  const read = async (steal: boolean) => {
    const lostLock = new AbortController();
    const options = steal ? { steal } : { signal: stop };
    await navigator.locks
      .request(name, options, async () => {
        reading = true;
        await readStream(cursor, AbortSignal.any([stop, lostLock.signal]), (word) => {
          take(word);
          send(word);
        });
      })
      .catch(() => lostLock.abort());
    reading = false;
    // A tab that lost the lock while suspended may have missed messages, so it asks the new reader for its state.
    if (lostLock.signal.aborted) send({ is: 'hello', from: self });
    if (!stop.aborted && state.is !== 'signed-out') void read(false);
  };
  // A suspended reader stops sending, so the visible tab takes over.
  const watch = setInterval(() => {
    const patience = state.is === 'open' ? PATIENCE.open : PATIENCE.lost;
    if (reading || document.visibilityState === 'hidden' || Date.now() - last < patience) return;
    last = Date.now();
    void read(true);
  }, 3000);
  stop.addEventListener('abort', () => {
    clearInterval(watch);
    channel.close();
  });
  send({ is: 'hello', from: self });
  void read(false);
}

function alone(stop: AbortSignal, onWord: (word: Word) => void): void {
  let cursor = '';
  let reading: AbortController | undefined;
  const look = () => {
    if (document.visibilityState === 'hidden') {
      reading?.abort();
      reading = undefined;
    } else if (!reading) {
      reading = new AbortController();
      void readStream(cursor, AbortSignal.any([stop, reading.signal]), (word) => {
        if (word.is === 'event') cursor = word.id || cursor;
        onWord(word);
      });
    }
  };
  document.addEventListener('visibilitychange', look, { signal: stop });
  look();
}
