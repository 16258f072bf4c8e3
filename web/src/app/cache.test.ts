import { MutationObserver, QueryObserver } from '@tanstack/react-query';
import { afterEach, expect, test, vi } from 'vitest';
import { Problem } from '@/api/problem';
import { cache } from './cache';

afterEach(() => cache.clear());

/** Somebody who looks at who they are; how often that was read. */
async function looking() {
  const read = vi.fn(() => Promise.resolve({ role: 'viewer' }));
  const stop = new QueryObserver(cache, { queryKey: ['me'], queryFn: read, staleTime: 60_000 }).subscribe(() => {});
  await vi.waitFor(() => expect(cache.getQueryState(['me'])?.fetchStatus).toBe('idle'));
  return { read, stop };
}

const failing = (status: number, code: string) => () => Promise.reject(new Problem(status, { code }));

test.each([
  [401, 'unauthenticated', 2],
  [403, 'role_forbids', 2],
  [404, 'not_found', 1],
  [409, 'conflict', 1],
])('who one is is read again after %d', async (status, code, times) => {
  for (const fail of [
    () => cache.fetchQuery({ queryKey: ['sessions'], queryFn: failing(status, code) }),
    () => new MutationObserver(cache, { mutationFn: failing(status, code) }).mutate(),
  ]) {
    const { read, stop } = await looking();
    await expect(fail()).rejects.toThrow();
    await vi.waitFor(() => expect(cache.isFetching()).toBe(0));
    expect(read).toHaveBeenCalledTimes(times);
    stop();
    cache.clear();
  }
});
