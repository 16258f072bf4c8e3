import { isCancelledError, MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { asProblem } from '@/api/problem';
import { meQuery } from '@/api/queries';

export const cache: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (query.queryKey[0] !== 'me') refreshAccount(error);
    },
  }),
  mutationCache: new MutationCache({ onError: refreshAccount }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      networkMode: 'always',
      retry: (failures, error) => asProblem(error).passing && failures < 3,
      retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 8000),
    },
    mutations: { networkMode: 'always' },
  },
});

/** After a 401 or 403 the account is read again, so that the shell shows the sign-in page or fewer pages. */
function refreshAccount(error: unknown): void {
  if ([401, 403].includes(asProblem(error).status)) void cache.invalidateQueries({ queryKey: ['me'] });
}

/** Reads the signed-in account unless cached. A read cancelled by an account change is repeated. */
export async function readMe(): Promise<void> {
  try {
    await cache.ensureQueryData(meQuery());
  } catch (error) {
    if (!isCancelledError(error)) throw error;
    await readMe();
  }
}
