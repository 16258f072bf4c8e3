import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
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

/** Whether the binary embeds the page in `dist`. */
export async function givesOut(address: string): Promise<boolean> {
  const scripts = (html: string) => html.match(/\/assets\/[\w.-]+/gu) ?? [];
  const reply = await fetch(`${address}/inbox`);
  const built = scripts(await readFile(join(DIST, 'index.html'), 'utf8'));
  return reply.ok && scripts(await reply.text()).join() === built.join();
}

/** Serves `dist` as the server would, in front of a binary that embeds another page or none. */
export async function startFront(server: Server): Promise<{ address: string; close: () => Promise<void> }> {
  const web = createServer((from, to) => {
    const path = new URL(from.url ?? '/', 'http://page').pathname;
    if (/^\/(v1|sign-in\/oidc)\//u.test(path)) forward(server, from, to);
    else file(path, to).catch(() => to.headersSent || to.writeHead(502).end());
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

/** Forwards a request and streams the response back. */
function forward(server: Server, from: IncomingMessage, to: ServerResponse): void {
  const { url: path, method, headers } = from;
  const target = { host: '127.0.0.1', port: server.port, path, method, headers };
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
