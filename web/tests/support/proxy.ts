import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request, type ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Server } from './server';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};

/**
 * Gives out what was just built, as the server does from within. In front of a binary that does not know people yet it
 * also stands in for signing in with a cookie.
 */
export async function startProxy(server: Server): Promise<{ address: string; close: () => Promise<void> }> {
  const web = createServer((from, to) => {
    const path = new URL(from.url ?? '/', 'http://page').pathname;
    const answer = path.startsWith('/v1') ? api(server, path, from, to) : file(path, to);
    answer.catch(() => to.headersSent || to.writeHead(502).end());
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  const address = web.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return {
    address: `http://127.0.0.1:${address.port}`,
    close: async () => {
      web.closeAllConnections();
      await new Promise((resolve) => web.close(resolve));
    },
  };
}

async function file(path: string, to: ServerResponse): Promise<void> {
  const wanted = join(DIST, normalize(path));
  const known = extname(path) in TYPES ? await readFile(wanted).catch(() => undefined) : undefined;
  if (known) {
    to.writeHead(200, { 'Content-Type': TYPES[extname(path)] ?? '' }).end(known);
    return;
  }
  const nonce = Math.random().toString(36).slice(2);
  const html = await readFile(join(DIST, 'index.html'), 'utf8');
  const policy = `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;
  to.writeHead(200, { 'Content-Type': TYPES['.html'] ?? '', 'Content-Security-Policy': policy });
  to.end(html.replace('__CSP_NONCE__', nonce));
}

const ROLES: Record<string, string> = { alice: 'admin', bob: 'operator' };

async function api(server: Server, path: string, from: IncomingMessage, to: ServerResponse): Promise<void> {
  if (server.people) return forward(server, from, to, from.headers);
  const user = /holdpoint_session=([\w-]+)/u.exec(from.headers.cookie ?? '')?.[1] ?? '';
  const key = server.keys.get(user);
  const json = (status: number, body: object, cookie?: string) =>
    to
      .writeHead(status, { 'Content-Type': 'application/json', ...(cookie ? { 'Set-Cookie': cookie } : {}) })
      .end(JSON.stringify(body));
  if (path === '/v1/sign-in') return void json(200, { password: true, oidc: null });
  if (path.startsWith('/v1/sign-in/')) return signIn(server, from, json);
  if (!key) return void json(401, { code: 'unauthenticated', status: 401, title: 'sign in' });
  if (from.method !== 'GET' && from.headers['x-holdpoint-page'] !== '1') {
    return void json(403, { code: 'cross_site', status: 403, title: 'not from the page' });
  }
  if (path === '/v1/me') {
    const role = ROLES[user] ?? 'viewer';
    const project = { project: 'default', name: 'default', role };
    return void json(200, {
      name: user,
      role,
      tenant: 'default',
      project: 'default',
      projects: [project],
      via: 'cookie',
    });
  }
  if (path === '/v1/sign-out') return void json(200, {}, 'holdpoint_session=; Max-Age=0; Path=/');
  if (path === '/v1/users')
    return void json(200, {
      users: [
        { name: 'alice', role: 'admin' },
        { name: 'bob', role: 'operator' },
      ],
    });
  const { cookie: _, ...headers } = from.headers;
  forward(server, from, to, { ...headers, authorization: `Bearer ${key}` });
}

/** Hands a request on as it is, and the reply back as it comes. */
function forward(server: Server, from: IncomingMessage, to: ServerResponse, headers: OutgoingHttpHeaders): void {
  const target = { host: '127.0.0.1', port: server.port, path: from.url, method: from.method, headers };
  const on = request(target, (reply) => {
    to.writeHead(reply.statusCode ?? 502, reply.headers);
    to.flushHeaders();
    reply.pipe(to);
    reply.on('error', () => to.destroy());
    reply.on('aborted', () => to.destroy());
  });
  on.on('error', () => (to.headersSent ? to.destroy() : to.writeHead(502).end()));
  to.on('close', () => on.destroy());
  from.pipe(on);
}

async function signIn(
  server: Server,
  from: IncomingMessage,
  json: (status: number, body: object, cookie?: string) => void,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of from) chunks.push(chunk as Buffer);
  const { user, password, token } = JSON.parse(Buffer.concat(chunks).toString());
  const name = token === 'first' ? 'alice' : password === 'correct horse battery' ? user : '';
  if (!server.keys.has(name)) return json(401, { code: 'sign_in_failed', status: 401, title: 'no' });
  json(200, {}, `holdpoint_session=${name}; HttpOnly; SameSite=Strict; Path=/`);
}
