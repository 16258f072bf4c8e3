import { QueryClient } from '@tanstack/react-query';
import { afterEach, expect, test, vi } from 'vitest';
import { api } from './client';
import { agentsQuery, flowsQuery, secretsQuery } from './queries';

afterEach(() => vi.restoreAllMocks());

test.each([
  ['agents', agentsQuery()],
  ['flows', flowsQuery()],
  ['secrets', secretsQuery()],
] as const)('%s are read to the last page', async (name, query) => {
  const pages: Record<string, object> = {
    first: { [name]: [{ name: 'a' }, { name: 'b' }], next: 'b@1' },
    'b@1': { [name]: [{ name: 'c' }], next: 'c@1' },
    'c@1': { [name]: [{ name: 'd' }] },
  };
  const get = vi.spyOn(api, 'GET').mockImplementation(((
    _path: string,
    { params }: { params: { query: { cursor?: string } } },
  ) => {
    const data = pages[params.query.cursor ?? 'first'];
    return Promise.resolve({ data, response: new Response() });
  }) as unknown as typeof api.GET);
  const read = await new QueryClient().fetchQuery(query as ReturnType<typeof agentsQuery>);
  expect(read.map((one) => one.name)).toEqual(['a', 'b', 'c', 'd']);
  expect(get).toHaveBeenCalledTimes(3);
});
