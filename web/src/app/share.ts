import { attemptKey } from '@/api/client';
import { readStream, type Word } from './stream';

const NAME = 'holdpoint-events';
const PATIENCE = { open: 60_000, lost: 12_000 };

/** What tabs say to each other: what the reader heard, or that somebody has come, who is then told how things are. */
type Said = (Word & { to?: string }) | { is: 'hello'; from: string };

/**
 * Hears the events of the project in every tab through one connection: a browser has but six for a server. One tab reads and
 * tells the others; when it goes, the next one reads on from the last event that it has heard of. Tabs of another project, or of
 * somebody else, have another reader.
 */
export function hear(whose: string, stop: AbortSignal, heard: (word: Word) => void): void {
  // Without the Web Locks API each visible tab reads the stream itself.
  if ('locks' in navigator && 'BroadcastChannel' in window) share(`${NAME} ${whose}`, stop, heard);
  else alone(stop, heard);
}

function share(name: string, stop: AbortSignal, heard: (word: Word) => void): void {
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
    heard(word);
  };
  const tell = (said: Said) => stop.aborted || channel.postMessage(said);
  channel.onmessage = ({ data }: MessageEvent<Said>) => {
    if (data.is === 'hello') {
      if (reading) tell({ ...state, to: data.from });
    } else if (!reading && (data.to ?? self) === self) take(data);
  };
  const read = async (steal: boolean) => {
    const robbed = new AbortController();
    const options = steal ? { steal } : { signal: stop };
    await navigator.locks
      .request(name, options, async () => {
        reading = true;
        await readStream(cursor, AbortSignal.any([stop, robbed.signal]), (word) => {
          take(word);
          tell(word);
        });
      })
      .catch(() => robbed.abort());
    reading = false;
    // A tab that lost the lock while suspended may have missed messages, so it asks the new reader for its state.
    if (robbed.signal.aborted) tell({ is: 'hello', from: self });
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
  tell({ is: 'hello', from: self });
  void read(false);
}

function alone(stop: AbortSignal, heard: (word: Word) => void): void {
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
        heard(word);
      });
    }
  };
  document.addEventListener('visibilitychange', look, { signal: stop });
  look();
}
