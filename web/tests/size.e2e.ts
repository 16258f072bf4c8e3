import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch, leave, someone } from './support/browser';
import { Server } from './support/server';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));
const MOST = 250 * 1024;

let server: Server;
let browser: Awaited<ReturnType<typeof launch>>;

beforeAll(async () => {
  server = await Server.start();
  browser = await launch();
});

afterAll(async () => {
  await leave(browser);
  await server?.stop();
});

test.each(['en-GB', 'ru-RU', 'zh-CN'])(
  'the first page is small enough and loads only from the server (%s)',
  async (locale) => {
    const { page, context } = await someone(browser, server, { locale });
    const paths = new Set<string>();
    page.on('request', (request) => {
      const url = new URL(request.url());
      expect(url.origin).toBe(server.page);
      if (!url.pathname.startsWith('/v1'))
        paths.add(url.pathname === '/' || url.pathname === '/inbox' ? '/index.html' : url.pathname);
    });
    await page.goto(`${server.page}/inbox`);
    await page.getByText(/holdpoint keys create/u).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang.slice(0, 2))).toBe(locale.slice(0, 2));
    await page.evaluate(() => document.fonts.ready);
    const sizes = await Promise.all(
      [...paths].map(async (path) => [path, gzipSync(await readFile(DIST + path)).length] as const),
    );
    const total = sizes.reduce((sum, [, size]) => sum + size, 0);
    expect(total, sizes.map(([path, size]) => `${path} ${size}`).join('\n')).toBeLessThan(MOST);
    expect([...paths].filter((path) => /editor|setup|schema-form|diff/u.test(path))).toEqual([]);
    await context.close();
  },
);
