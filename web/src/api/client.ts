import createClient from 'openapi-fetch';
import { noteServerTime } from '@/lib/clock';
import { marked, revived, writeJson } from '@/lib/exact';
import { asProblem, Problem } from './problem';
import type { paths } from './schema';

/** The server accepts changes from the page only with this header, which another site cannot send. */
export const PAGE_HEADERS = { 'X-Holdpoint-Page': '1' };

export const api = createClient<paths>({
  baseUrl: typeof location === 'undefined' ? 'http://localhost' : location.origin,
  headers: PAGE_HEADERS,
  credentials: 'same-origin',
  bodySerializer: (body) => writeJson(body),
});

api.use({
  async onResponse({ response, options }) {
    const { status, headers } = response;
    noteServerTime(headers.get('date'));
    const json = headers.get('content-type')?.startsWith('application/json') && options.parseAs !== 'stream';
    return json && response.ok ? new Response(marked(await response.text()), { status, headers }) : undefined;
  },
});

/** Fields that hold agents' JSON, which is kept exactly as written. */
const FREE = ['schema', 'arguments', 'original_arguments', 'context', 'data', 'result', 'input', 'output', 'metadata'];

/** Parses JSON that does not come through the client, such as a stream event. */
export function readReply(json: string): unknown {
  return revived(JSON.parse(marked(json)), FREE);
}

interface Reply<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns the response body, or throws its problem. */
export async function responseBody<T>(request: Promise<Reply<T>>): Promise<T> {
  let reply: Reply<T>;
  try {
    reply = await request;
  } catch (error) {
    throw asProblem(error);
  }
  if (reply.response.ok) return revived(reply.data, FREE) as T;
  throw new Problem(reply.response.status, asBody(reply.error));
}

function asBody(error: unknown): object {
  return typeof error === 'object' && error !== null ? error : {};
}

/** Idempotency key of one attempt; sending it again after a lost response returns the first result. */
export function attemptKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
