import type { Stats, StatsDetails, Tally } from '@/api/types';

export const OUTCOMES = ['answered', 'auto_resolved', 'expired', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Bucket {
  from: number;
  to: number;
  counts: Record<Outcome, number>;
}

/** What was closed in each stretch of time. */
export function series({ times, window_seconds }: Pick<StatsDetails, 'times' | 'window_seconds'>): Bucket[] {
  const length = (window_seconds * 1000) / Math.max(1, times.length);
  return times.map(({ from, closed }) => ({
    from: Date.parse(from),
    to: Date.parse(from) + length,
    counts: Object.fromEntries(OUTCOMES.map((name) => [name, closed[name] ?? 0])) as Record<Outcome, number>,
  }));
}

/** The part of what was closed that expired; nothing where nothing was closed. */
export function expiredShare(stats: Pick<Stats, 'closed'>): number | undefined {
  const all = OUTCOMES.reduce((sum, name) => sum + (stats.closed[name] ?? 0), 0);
  return all === 0 ? undefined : (stats.closed.expired ?? 0) / all;
}

/** How worried to be about it: the marks stand at 5 and 20 per cent. */
export function shareTone(share: number | undefined): 'plain' | 'good' | 'warn' | 'danger' {
  if (share === undefined) return 'plain';
  if (share > 0.2) return 'danger';
  return share > 0.05 ? 'warn' : 'good';
}

/** The part of what people answered that they held back; nothing where nobody answered. */
export function refusedShare({ effects }: Pick<Tally, 'effects'>): number | undefined {
  const all = Object.values(effects).reduce((sum, count) => sum + count, 0);
  const held = (effects.reject ?? 0) + (effects.retry ?? 0) + (effects.terminate ?? 0);
  return all === 0 ? undefined : held / all;
}
