import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { byDeadline } from './by-deadline';
import { api, responseBody } from './client';
import { people } from './people';
import type { operations } from './schema';
import type { Json } from './types';

export type InboxFilter = Omit<NonNullable<operations['interaction_list']['parameters']['query']>, 'cursor' | 'limit'>;
export type SessionFilter = Omit<NonNullable<operations['session_list']['parameters']['query']>, 'cursor' | 'limit'>;
export type AuditFilter = Omit<NonNullable<operations['audit_list']['parameters']['query']>, 'cursor' | 'limit'>;
export type DeliveryState = NonNullable<
  NonNullable<operations['webhook_delivery_list']['parameters']['query']>['state']
>;

const PAGE = 50;
const MOST = 200;

type Cursor = string | null | undefined;

/** Reads all pages of a list, one after the other. */
async function everyPage<P extends { next?: Cursor }>(read: (cursor?: string) => Promise<P>): Promise<P[]> {
  const pages: P[] = [];
  for (let next: Cursor; ; ) {
    const page = await read(next ?? undefined);
    pages.push(page);
    next = page.next;
    if (!next) return pages;
  }
}

export const meQuery = () => queryOptions({ queryKey: ['me'], queryFn: people.me, staleTime: 60_000, retry: false });

export const interactionsQuery = (filter: InboxFilter) =>
  infiniteQueryOptions({
    queryKey: ['interactions', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const page = (filter: InboxFilter, cursor?: string) =>
        responseBody(api.GET('/v1/interactions', { params: { query: { ...filter, cursor, limit: PAGE } }, signal }));
      return filter.sort === 'deadline' ? byDeadline(filter, page, pageParam) : page(filter, pageParam);
    },
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });

export const interactionQuery = (id: string) =>
  queryOptions({
    queryKey: ['interaction', id],
    queryFn: ({ signal }) =>
      responseBody(api.GET('/v1/interactions/{interaction}', { params: { path: { interaction: id } }, signal })),
  });

/** Schema of the arguments of the question's action, if the tool has one. */
export const actionSchemaQuery = (id: string) =>
  queryOptions({
    queryKey: ['action-schema', id],
    queryFn: async ({ signal }) => {
      const params = { path: { interaction: id } };
      return (await responseBody(api.GET('/v1/interactions/{interaction}/schema', { params, signal }))).schema ?? null;
    },
  });

export const sessionsQuery = (filter: SessionFilter) =>
  infiniteQueryOptions({
    queryKey: ['sessions', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      responseBody(
        api.GET('/v1/sessions', { params: { query: { ...filter, cursor: pageParam, limit: PAGE } }, signal }),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });

export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ['session', id],
    queryFn: ({ signal }) =>
      responseBody(api.GET('/v1/sessions/{session}', { params: { path: { session: id } }, signal })),
  });

/** One action of a session by its call id. */
export const actionQuery = (session: string, call: string) =>
  queryOptions({
    queryKey: ['action', `${session} ${call}`],
    queryFn: ({ signal }) =>
      responseBody(api.GET('/v1/sessions/{session}/actions/{call}', { params: { path: { session, call } }, signal })),
  });

export const explainQuery = (call: { tool: string; arguments: Json; agent?: string | null }) =>
  queryOptions({
    queryKey: ['explain', call],
    queryFn: () =>
      responseBody(
        api.POST('/v1/policy/explain', {
          body: { ...call, arguments: call.arguments as Record<string, unknown>, role: 'agent' },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

/** No event reports each use or expiry of a grant, so grants are polled every few seconds. */
export const grantsQuery = (over: boolean) =>
  infiniteQueryOptions({
    queryKey: ['grants', over],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      responseBody(api.GET('/v1/grants', { params: { query: { over, cursor: pageParam, limit: PAGE } }, signal })),
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: 5000,
  });

export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      responseBody(api.GET('/v1/audit', { params: { query: { ...filter, cursor: pageParam, limit: PAGE } }, signal })),
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });

export const auditKeyQuery = () =>
  queryOptions({
    queryKey: ['audit-key'],
    queryFn: ({ signal }) => responseBody(api.GET('/v1/audit/key', { signal })),
  });

/** Ages change without events, so the stats are polled. */
const AGEING = 15_000;

export const statsQuery = (window: number) =>
  queryOptions({
    queryKey: ['stats', window],
    queryFn: ({ signal }) =>
      responseBody(api.GET('/v1/stats', { params: { query: { window_seconds: window } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: AGEING,
  });

export const statsDetailsQuery = (window: number, parts: number) =>
  queryOptions({
    queryKey: ['stats', 'details', window, parts],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      responseBody(api.GET('/v1/stats/details', { params: { query: { window_seconds: window, parts } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: AGEING,
  });

export const keysQuery = () =>
  queryOptions({
    queryKey: ['keys'],
    queryFn: async ({ signal }) => {
      const pages = await everyPage((cursor) =>
        responseBody(api.GET('/v1/keys', { params: { query: { cursor, limit: MOST } }, signal })),
      );
      return { keys: pages.flatMap((page) => page.keys) };
    },
  });

export const secretsQuery = () =>
  queryOptions({
    queryKey: ['secrets'],
    queryFn: async ({ signal }) => {
      const pages = await everyPage((cursor) =>
        responseBody(api.GET('/v1/secrets', { params: { query: { cursor, limit: MOST } }, signal })),
      );
      return pages.flatMap((page) => page.secrets);
    },
  });

/** No events exist for these, so they are polled every few seconds. */
export const webhooksQuery = () =>
  infiniteQueryOptions({
    queryKey: ['webhooks'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      responseBody(api.GET('/v1/webhooks', { params: { query: { cursor: pageParam, limit: PAGE } }, signal })),
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: 5000,
  });

export const webhookDeliveriesQuery = (webhook: string, state?: DeliveryState) =>
  infiniteQueryOptions({
    queryKey: ['webhook-deliveries', webhook, state],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      responseBody(
        api.GET('/v1/webhooks/{webhook}/deliveries', {
          params: { path: { webhook }, query: { state, cursor: pageParam, limit: 20 } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: 3000,
  });

export const agentsQuery = () =>
  queryOptions({
    queryKey: ['agents'],
    queryFn: async ({ signal }) => {
      const pages = await everyPage((cursor) =>
        responseBody(api.GET('/v1/agents', { params: { query: { cursor, limit: MOST } }, signal })),
      );
      return pages.flatMap((page) => page.agents);
    },
  });

export const flowsQuery = () =>
  queryOptions({
    queryKey: ['flows'],
    queryFn: async ({ signal }) => {
      const pages = await everyPage((cursor) =>
        responseBody(api.GET('/v1/flows', { params: { query: { cursor, limit: MOST } }, signal })),
      );
      return pages.flatMap((page) => page.flows);
    },
  });

/** One version of an agent or flow with its definition. */
export const definitionQuery = (kind: 'agent' | 'flow', name: string, version: string) =>
  queryOptions({
    queryKey: ['definition', kind, name, version],
    queryFn: ({ signal }) => {
      const params = { path: { name, version } };
      return kind === 'agent'
        ? responseBody(api.GET('/v1/agents/{name}/{version}', { params, signal }))
        : responseBody(api.GET('/v1/flows/{name}/{version}', { params, signal }));
    },
  });

export const peopleQuery = () =>
  queryOptions({
    queryKey: ['people'],
    queryFn: async () => ({ users: (await everyPage(people.list)).flatMap((page) => page.users) }),
    retry: false,
  });
export const offerQuery = () => queryOptions({ queryKey: ['sign-in'], queryFn: people.offer });
