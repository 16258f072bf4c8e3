import createClient from 'openapi-fetch';
import { noteServerTime } from '@/lib/clock';
import { asProblem, Problem } from './problem';
import type { paths } from './schema';

/** The server takes changes from a page only with this header: another site cannot send it. */
export const PAGE_HEADERS = { 'X-Holdpoint-Page': '1' };

export const api = createClient<paths>({
  baseUrl: typeof location === 'undefined' ? 'http://localhost' : location.origin,
  headers: PAGE_HEADERS,
  credentials: 'same-origin',
});

api.use({
  onResponse({ response }) {
    noteServerTime(response.headers.get('date'));
  },
});

interface Reply<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** What a request gave, or its problem thrown. */
export async function taken<T>(request: Promise<Reply<T>>): Promise<T> {
  let reply: Reply<T>;
  try {
    reply = await request;
  } catch (error) {
    throw asProblem(error);
  }
  if (reply.response.ok) return reply.data as T;
  throw new Problem(reply.response.status, asBody(reply.error));
}

function asBody(error: unknown): object {
  return typeof error === 'object' && error !== null ? error : {};
}

/** A name for one attempt to change something: sent again after a lost reply, it gives the first result. */
export function attemptKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
