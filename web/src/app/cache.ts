import { QueryClient } from '@tanstack/react-query';
import { asProblem } from '@/api/problem';

export const cache = new QueryClient({
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
