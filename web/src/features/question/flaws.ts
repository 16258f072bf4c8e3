import type { TFunction } from 'i18next';
import { asProblem } from '@/api/problem';
import { detailOf } from '@/model/details';

/** Validation errors of the server below a pointer, by field path: `/data/city` becomes `city`. */
export function flawsAt(t: TFunction, error: unknown, part: 'data' | 'arguments' = 'data'): Record<string, string> {
  if (!error) return {};
  const found = asProblem(error).body.errors ?? [];
  const start = `/${part}/`;
  const inside = found.filter(({ pointer }) => pointer?.startsWith(start));
  return Object.fromEntries(
    inside.map(({ pointer, message }) => [(pointer ?? '').slice(start.length), detailOf(t, message)]),
  );
}
