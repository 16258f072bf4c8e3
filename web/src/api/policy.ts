import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, responseBody } from './client';

const PAGE = 50;

/** No event reports a policy change by another person, so the policy is polled every few seconds. */
export const policyQuery = () =>
  queryOptions({
    queryKey: ['policy'],
    queryFn: ({ signal }) => responseBody(api.GET('/v1/policy', { signal })),
    refetchInterval: 15_000,
  });

/** Policy history, read again when the active version changes. */
export const policyVersionsQuery = (since: string) =>
  infiniteQueryOptions({
    queryKey: ['policy-versions', since],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      responseBody(api.GET('/v1/policy/versions', { params: { query: { cursor: pageParam, limit: PAGE } }, signal })),
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });

/** Text of a policy version, which never changes; null if the version was never active here. */
export const policyTextQuery = (version: string) =>
  queryOptions({
    queryKey: ['policy-text', version],
    queryFn: async ({ signal }) => {
      const params = { query: { version, limit: 1 } };
      return (await responseBody(api.GET('/v1/policy/versions', { params, signal }))).versions[0]?.text ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
