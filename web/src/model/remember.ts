import type { Remember } from '@/api/types';

/** For how long an approval is to hold, as the page offers it; `null` is without end. */
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

/** The arguments that a pattern can be written for, with their own text as the pattern to begin with. */
export function patternable(values: Record<string, unknown>): Record<string, string> {
  const texts = Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts.filter(([, text]) => text.length <= 500));
}

/** The wish as it goes over the wire. Patterns that are just the argument itself need not be said. */
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
