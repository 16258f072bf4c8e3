import type { Stats, StatsDetails, Tally } from '@/api/types';

export const OUTCOMES = ['answered', 'auto_resolved', 'expired', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Bucket {
  from: number;
  to: number;
  counts: Record<Outcome, number>;
}

/** Questions closed in each time bucket. */
export function series({ times, window_seconds }: Pick<StatsDetails, 'times' | 'window_seconds'>): Bucket[] {
  const length = (window_seconds * 1000) / Math.max(1, times.length);
  return times.map(({ from, closed }) => ({
    from: Date.parse(from),
    to: Date.parse(from) + length,
    counts: Object.fromEntries(OUTCOMES.map((name) => [name, closed[name] ?? 0])) as Record<Outcome, number>,
  }));
}

const SHORT_FORMATS: Intl.DateTimeFormatOptions[] = [
  { hour: '2-digit', minute: '2-digit' },
  { day: 'numeric', month: 'short' },
  { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
];

/** Label of each bucket's end, as short as the labels stay distinct. */
export function endsOf(buckets: readonly Bucket[], locale: string): string[] {
  const all = (buckets.at(-1)?.to ?? 0) - (buckets[0]?.from ?? 0);
  // Clock times repeat after one day, so longer ranges need a date.
  const looks = SHORT_FORMATS.slice(all > 86_400_000 ? 1 : 0).map((look) => {
    const format = new Intl.DateTimeFormat(locale, look);
    return buckets.map(({ to }) => format.format(to));
  });
  return looks.find((labels) => new Set(labels).size === labels.length) ?? looks.at(-1) ?? [];
}

/** Number of buckets for a window; a week has one bucket per day. */
export function partsOf(window: number): number {
  return window === 604_800 ? 7 : 8;
}

/** Share of closed questions that expired; undefined if none were closed. */
export function expiredShare(stats: Pick<Stats, 'closed'>): number | undefined {
  const all = OUTCOMES.reduce((sum, name) => sum + (stats.closed[name] ?? 0), 0);
  return all === 0 ? undefined : (stats.closed.expired ?? 0) / all;
}

/** Tone of the expired share, with thresholds at 5% and 20%. */
export function shareTone(share: number | undefined): 'plain' | 'good' | 'warn' | 'danger' {
  if (share === undefined) return 'plain';
  if (share > 0.2) return 'danger';
  return share > 0.05 ? 'warn' : 'good';
}

/** Share of answers by people that rejected the action or sent it back; undefined if nobody answered. */
export function rejectedShare({ effects }: Pick<Tally, 'effects'>): number | undefined {
  const all = Object.values(effects).reduce((sum, count) => sum + count, 0);
  const held = (effects.reject ?? 0) + (effects.retry ?? 0) + (effects.terminate ?? 0);
  return all === 0 ? undefined : held / all;
}
