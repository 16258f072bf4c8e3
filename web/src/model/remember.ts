import type { Remember } from '@/api/types';

/** Durations of a standing approval that the page offers, in seconds; `null` means no end. */
export const TIMES = [3600, 28_800, 86_400, 604_800, null] as const;
export const USES = [1, 5, 20, 100, null] as const;

export interface Wish {
  scope: 'session' | 'project';
  cover: 'exact' | 'pattern' | 'any';
  patterns: Record<string, string>;
  seconds: number | null;
  uses: number | null;
}

/** The default: the narrowest useful scope. */
export const FIRST_WISH: Wish = { scope: 'session', cover: 'exact', patterns: {}, seconds: 3600, uses: null };

/** Arguments that can have a pattern, each with its own text as the initial pattern. */
export function patternable(values: Record<string, unknown>): Record<string, string> {
  const texts = Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts.filter(([, text]) => text.length <= 500));
}

/** Request field of a standing approval. A pattern that equals its argument is omitted. */
export function rememberOf(wish: Wish, values: Record<string, unknown>): Remember {
  const changed = Object.entries(wish.patterns).filter(([name, pattern]) => pattern !== values[name]);
  const by = wish.cover === 'pattern' && changed.length === 0 ? 'exact' : wish.cover;
  return {
    scope: wish.scope,
    arguments: by === 'pattern' ? Object.fromEntries(changed) : by,
    seconds: wish.seconds,
    uses: wish.uses,
  };
}
