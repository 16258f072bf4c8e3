import { MutationObserver, QueryObserver } from '@tanstack/react-query';
import { afterEach, expect, test, vi } from 'vitest';
import { api } from '@/api/client';
import { Problem } from '@/api/problem';
import { cache, readMe } from './cache';

afterEach(() => cache.clear());

/** An observer of the account, and the number of reads. */
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
])('status %d decides whether the signed-in user is read again', async (status, code, times) => {
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

test('the signed-in user is read again if another tab changes it during the read', async () => {
  const never = new Promise(() => {});
  const bob = Promise.resolve({ data: { name: 'bob' }, response: new Response() });
  const get = vi
    .spyOn(api, 'GET')
    .mockReturnValueOnce(never as never)
    .mockReturnValue(bob as never);
  const read = readMe();
  await vi.waitFor(() => expect(get).toHaveBeenCalledTimes(1));
  void cache.resetQueries();
  await read;
  expect(cache.getQueryData(['me'])).toEqual({ name: 'bob' });
  get.mockRestore();
});
