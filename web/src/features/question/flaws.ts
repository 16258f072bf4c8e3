import type { TFunction } from 'i18next';
import { asProblem } from '@/api/problem';
import { detailOf } from '@/model/details';

/** What the server found wrong with a part of an answer, each by the path of its field: `/data/city` is at `city`. */
export function flawsAt(t: TFunction, error: unknown, part: 'data' | 'arguments' = 'data'): Record<string, string> {
  if (!error) return {};
  const found = asProblem(error).body.errors ?? [];
  const start = `/${part}/`;
  const inside = found.filter(({ pointer }) => pointer?.startsWith(start));
  return Object.fromEntries(
    inside.map(({ pointer, message }) => [(pointer ?? '').slice(start.length), detailOf(t, message)]),
  );
}
