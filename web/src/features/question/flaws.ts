import { asProblem } from '@/api/problem';

/** What the server found wrong with the data of an answer, each by the path of its field: `/data/city` is at `city`. */
export function flawsAt(error: unknown): Record<string, string> {
  if (!error) return {};
  const found = asProblem(error).body.errors ?? [];
  const inside = found.filter(({ pointer }) => pointer?.startsWith('/data/'));
  return Object.fromEntries(inside.map(({ pointer, message }) => [(pointer ?? '').slice('/data/'.length), message]));
}
