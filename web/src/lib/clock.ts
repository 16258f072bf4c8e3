import { useEffect } from 'react';
import { create } from 'zustand';

/** How far the server's clock is ahead of this machine's, in milliseconds. */
let ahead = 0;

/**
 * Learns the server's clock from the `Date` header of a response. The header has whole seconds, so small differences
 * are ignored.
 */
export function noteServerTime(date: string | null, here = Date.now()): void {
  const there = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(there)) return;
  const difference = there + 500 - here;
  if (Math.abs(difference - ahead) > 1500) ahead = Math.abs(difference) <= 1500 ? 0 : difference;
}

/** Best estimate of the server's time. */
export function serverNow(here = Date.now()): number {
  return here + ahead;
}

const useTick = create<{ now: number }>(() => ({ now: Date.now() }));
let readers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

// One shared timer for all countdowns; it stops when there are none.
function keepTicking(): () => void {
  readers += 1;
  timer ??= setInterval(() => useTick.setState({ now: Date.now() }), 1000);
  return () => {
    readers -= 1;
    if (readers > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The server's time, updated every second. */
export function useServerNow(): number {
  const now = useTick((state) => state.now);
  useEffect(keepTicking, []);
  return serverNow(Math.max(now, Date.now() - 1000));
}
