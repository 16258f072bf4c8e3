import type { AuditFilter, DeliveryState, InboxFilter, SessionFilter } from '@/api/queries';

type Search = Record<string, unknown>;

const STATUSES = ['pending', 'answered', 'auto_resolved', 'expired', 'cancelled'] as const;
const SORTS = ['oldest', 'newest', 'deadline'] as const;
const SESSION_STATUSES = [
  'new',
  'running',
  'waiting_user_input',
  'paused',
  'completed',
  'failed',
  'cancelled',
] as const;

/** Valid search parameters; unknown ones are dropped. */
export interface InboxSearch extends Pick<InboxFilter, 'sort' | 'kind' | 'agent' | 'q' | 'mine' | 'overdue'> {
  status?: InboxFilter['status'];
  move?: 'approve' | 'edit' | 'reject';
}

export function inboxSearch(search: Search): InboxSearch {
  return tidy({
    status: among(search.status, STATUSES),
    sort: among(search.sort, SORTS),
    kind: word(search.kind),
    agent: word(search.agent),
    q: word(search.q),
    mine: search.mine === true || undefined,
    overdue: search.overdue === true || undefined,
    move: among(search.move, ['approve', 'edit', 'reject'] as const),
  });
}

export function sessionsSearch(search: Search): SessionFilter {
  return tidy({ status: among(search.status, SESSION_STATUSES), agent: word(search.agent) });
}

/** Periods of the audit trail that can be shown. */
export const PERIODS = ['hour', 'day', 'week', 'month', 'all'] as const;
export type Period = (typeof PERIODS)[number];

export function auditSearch(
  search: Search,
): Pick<AuditFilter, 'type' | 'by' | 'session' | 'interaction'> & { period?: Period } {
  return tidy({
    period: among(search.period, PERIODS),
    type: word(search.type),
    by: word(search.by),
    session: word(search.session),
    interaction: word(search.interaction),
  });
}

export function tabSearch<T extends string>(tabs: readonly T[]): (search: Search) => { tab?: T } {
  return (search) => tidy({ tab: among(search.tab, tabs) });
}

const SETTINGS = ['me', 'keys', 'people', 'secrets', 'webhooks'] as const;
const DELIVERY_STATES = ['pending', 'delivered', 'dead', 'dropped'] as const;

/** Tab of the settings, and the webhook whose messages are shown. */
export interface SettingsSearch {
  tab?: (typeof SETTINGS)[number];
  webhook?: string;
  state?: DeliveryState;
}

export function settingsSearch(search: Search): SettingsSearch {
  return tidy({
    tab: among(search.tab, SETTINGS),
    webhook: word(search.webhook),
    state: among(search.state, DELIVERY_STATES),
  });
}

/** Destination after sign-in, which is never another site or the sign-in page, and the error code of a provider. */
export function signInSearch(search: Search): { next?: string; error?: string } {
  const next = word(search.next);
  return tidy({ next: next && isOwnPlace(next) ? next : undefined, error: word(search.error) });
}

// Browsers remove tabs and line feeds from an address, so `/\t/evil.example` would be another site. The address is
// therefore parsed as a browser parses it.
function isOwnPlace(next: string): boolean {
  if (!next.startsWith('/') || /[\p{Cc}\\]/u.test(next)) return false;
  const place = URL.parse(next, location.origin);
  return place?.origin === location.origin && !/^\/(?:\/|sign-in\b)/u.test(place.pathname);
}

function among<T extends string>(value: unknown, names: readonly T[]): T | undefined {
  return names.find((name) => name === value);
}

function word(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

function tidy<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T;
}
