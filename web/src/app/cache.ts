import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { asProblem } from '@/api/problem';

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
