import { QueryCache, QueryClient } from '@tanstack/react-query';
import { asProblem } from '@/api/problem';

export const cache: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    // Whoever is not known any more is asked who they are; the shell then shows the door.
    onError: (error, query) => {
      const stranger = asProblem(error).status === 401 && query.queryKey[0] !== 'me';
      if (stranger) void cache.invalidateQueries({ queryKey: ['me'] });
    },
  }),
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
