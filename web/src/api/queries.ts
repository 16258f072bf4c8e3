import { infiniteQueryOptions, keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query';
import { api, taken } from './client';
import { people } from './people';
import type { operations } from './schema';
import type { Json, SessionEvent } from './types';

export type InboxFilter = Omit<NonNullable<operations['interaction_list']['parameters']['query']>, 'cursor' | 'limit'>;
export type SessionFilter = Omit<NonNullable<operations['session_list']['parameters']['query']>, 'cursor' | 'limit'>;
export type AuditFilter = Omit<NonNullable<operations['audit_list']['parameters']['query']>, 'cursor' | 'limit'>;
export type DeliveryState = NonNullable<
  NonNullable<operations['webhook_delivery_list']['parameters']['query']>['state']
>;

const PAGE = 50;

export const meQuery = () => queryOptions({ queryKey: ['me'], queryFn: people.me, staleTime: 60_000, retry: false });

export const interactionsQuery = (filter: InboxFilter) =>
  infiniteQueryOptions({
    queryKey: ['interactions', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      taken(api.GET('/v1/interactions', { params: { query: { ...filter, cursor: pageParam, limit: PAGE } }, signal })),
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });

export const interactionQuery = (id: string) =>
  queryOptions({
    queryKey: ['interaction', id],
    queryFn: ({ signal }) =>
      taken(api.GET('/v1/interactions/{interaction}', { params: { path: { interaction: id } }, signal })),
  });

export const sessionsQuery = (filter: SessionFilter) =>
  infiniteQueryOptions({
    queryKey: ['sessions', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      taken(api.GET('/v1/sessions', { params: { query: { ...filter, cursor: pageParam, limit: PAGE } }, signal })),
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });

export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ['session', id],
    queryFn: ({ signal }) => taken(api.GET('/v1/sessions/{session}', { params: { path: { session: id } }, signal })),
  });

const EVENTS = 60;
/** What a page that slept may still catch up with; whoever missed more begins anew at the end. */
const GAP = 600;

const eventsAfter = async (session: string, after: number, limit: number, signal?: AbortSignal) => {
  const query = { after, limit };
  const path = { session };
  return (await taken(api.GET('/v1/sessions/{session}/events', { params: { path, query }, signal }))).events;
};

/** Up to which event of a session was heard while its events were being read: whoever reads them reads as far. */
export const heardKey = (id: string) => ['session-heard', id];

/** The last events of a session, without a gap; the live stream adds what comes, `earlierEvents` what came before. */
export const eventsQuery = (id: string) =>
  queryOptions({
    queryKey: ['session-events', id],
    queryFn: async ({ client, signal }): Promise<SessionEvent[]> => {
      const { last_seq: end } = await taken(
        api.GET('/v1/sessions/{session}', { params: { path: { session: id } }, signal }),
      );
      const known = client.getQueryData<SessionEvent[]>(['session-events', id]) ?? [];
      const events = end - (known.at(-1)?.seq ?? 0) > GAP ? [] : [...known];
      for (;;) {
        const found = await eventsAfter(id, events.at(-1)?.seq ?? Math.max(0, end - EVENTS), 200, signal);
        events.push(...found);
        const heard = client.getQueryData<number>(heardKey(id)) ?? 0;
        if (found.length === 0 || (found.length < 200 && heard <= (events.at(-1)?.seq ?? 0))) return events;
      }
    },
  });

/** Reads the events before those that are known of a session. */
export async function earlierEvents(client: QueryClient, id: string): Promise<void> {
  const key = ['session-events', id];
  const first = client.getQueryData<SessionEvent[]>(key)?.[0]?.seq ?? 1;
  if (first <= 1) return;
  const count = Math.min(EVENTS, first - 1);
  const found = await eventsAfter(id, first - 1 - count, count);
  client.setQueryData<SessionEvent[]>(key, (known) =>
    known?.[0]?.seq === first ? [...found.filter((event) => event.seq < first), ...known] : known,
  );
}

/** One call of a session, by the agent's name for it. */
export const actionQuery = (session: string, call: string) =>
  queryOptions({
    queryKey: ['action', `${session} ${call}`],
    queryFn: ({ signal }) =>
      taken(api.GET('/v1/sessions/{session}/actions/{call}', { params: { path: { session, call } }, signal })),
  });

export const explainQuery = (call: { tool: string; arguments: Json; agent?: string | null }) =>
  queryOptions({
    queryKey: ['explain', call],
    queryFn: () =>
      taken(
        api.POST('/v1/policy/explain', {
          body: { ...call, arguments: call.arguments as Record<string, unknown>, role: 'agent' },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

export const policyQuery = () =>
  queryOptions({ queryKey: ['policy'], queryFn: ({ signal }) => taken(api.GET('/v1/policy', { signal })) });

export const policyVersionsQuery = () =>
  queryOptions({
    queryKey: ['policy-versions'],
    queryFn: ({ signal }) => taken(api.GET('/v1/policy/versions', { params: { query: { limit: PAGE } }, signal })),
  });

export const grantsQuery = (over: boolean) =>
  infiniteQueryOptions({
    queryKey: ['grants', over],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      taken(api.GET('/v1/grants', { params: { query: { over, cursor: pageParam, limit: PAGE } }, signal })),
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });

export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      taken(api.GET('/v1/audit', { params: { query: { ...filter, cursor: pageParam, limit: PAGE } }, signal })),
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });

export const auditKeyQuery = () =>
  queryOptions({
    queryKey: ['audit-key'],
    queryFn: ({ signal }) => taken(api.GET('/v1/audit/key', { signal })),
  });

export const statsQuery = (window: number) =>
  queryOptions({
    queryKey: ['stats', window],
    queryFn: ({ signal }) => taken(api.GET('/v1/stats', { params: { query: { window_seconds: window } }, signal })),
    placeholderData: keepPreviousData,
  });

export const statsDetailsQuery = (window: number, parts: number) =>
  queryOptions({
    queryKey: ['stats', 'details', window, parts],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      taken(api.GET('/v1/stats/details', { params: { query: { window_seconds: window, parts } }, signal })),
    placeholderData: keepPreviousData,
  });

export const keysQuery = () =>
  queryOptions({ queryKey: ['keys'], queryFn: ({ signal }) => taken(api.GET('/v1/keys', { signal })) });

export const secretsQuery = () =>
  queryOptions({
    queryKey: ['secrets'],
    queryFn: ({ signal }) => taken(api.GET('/v1/secrets', { params: { query: { limit: 200 } }, signal })),
  });

/** No event tells of these: whoever looks at them sees them change within seconds. */
export const webhooksQuery = () =>
  infiniteQueryOptions({
    queryKey: ['webhooks'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      taken(api.GET('/v1/webhooks', { params: { query: { cursor: pageParam, limit: PAGE } }, signal })),
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: 5000,
  });

export const webhookDeliveriesQuery = (webhook: string, state?: DeliveryState) =>
  infiniteQueryOptions({
    queryKey: ['webhook-deliveries', webhook, state],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      taken(
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
    queryFn: ({ signal }) => taken(api.GET('/v1/agents', { params: { query: { limit: 200 } }, signal })),
  });

export const flowsQuery = () =>
  queryOptions({
    queryKey: ['flows'],
    queryFn: ({ signal }) => taken(api.GET('/v1/flows', { params: { query: { limit: 200 } }, signal })),
  });

/** One version of an agent or a flow, with what it says. */
export const definitionQuery = (kind: 'agent' | 'flow', name: string, version: string) =>
  queryOptions({
    queryKey: ['definition', kind, name, version],
    queryFn: ({ signal }) => {
      const params = { path: { name, version } };
      return kind === 'agent'
        ? taken(api.GET('/v1/agents/{name}/{version}', { params, signal }))
        : taken(api.GET('/v1/flows/{name}/{version}', { params, signal }));
    },
  });

export const peopleQuery = () => queryOptions({ queryKey: ['people'], queryFn: people.list, retry: false });
export const offerQuery = () => queryOptions({ queryKey: ['sign-in'], queryFn: people.offer });
