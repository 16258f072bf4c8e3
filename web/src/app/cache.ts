import { isCancelledError, MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { asProblem } from '@/api/problem';
import { meQuery } from '@/api/queries';

export const cache: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (query.queryKey[0] !== 'me') turnedAway(error);
    },
  }),
  mutationCache: new MutationCache({ onError: turnedAway }),
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

/** Whoever is not known any more, or may not do what they could, is asked who they are: the shell then shows the door, or less. */
function turnedAway(error: unknown): void {
  if ([401, 403].includes(asProblem(error).status)) void cache.invalidateQueries({ queryKey: ['me'] });
}

/** Reads who is signed in, unless that is known. A read that is cancelled because the account has changed meanwhile is begun again. */
export async function readMe(): Promise<void> {
  try {
    await cache.ensureQueryData(meQuery());
  } catch (error) {
    if (!isCancelledError(error)) throw error;
    await readMe();
  }
}
