import type { Stats } from '@/api/types';

export const OUTCOMES = ['answered', 'auto_resolved', 'expired', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Bucket {
  from: number;
  to: number;
  counts: Record<Outcome, number>;
}

/**
 * What was closed in each stretch of time. The server counts backwards from now, so the difference between two windows
 * is what lies between their beginnings; `windows` go from the shortest to the longest.
 */
export function series(windows: readonly Stats[], now: number): Bucket[] {
  const buckets = windows.map((window, at) => {
    const inner = at === 0 ? undefined : windows[at - 1];
    const counts = Object.fromEntries(
      OUTCOMES.map((name) => [name, Math.max(0, (window.closed[name] ?? 0) - (inner?.closed[name] ?? 0))]),
    ) as Record<Outcome, number>;
    return {
      from: now - window.window_seconds * 1000,
      to: now - (inner?.window_seconds ?? 0) * 1000,
      counts,
    };
  });
  return buckets.reverse();
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
