import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { complaints, type Kind, launch, leave, shut, someone } from './browser';
import { Server, type ServerOptions } from './server';

type Wish = Parameters<typeof someone>[2];

/** A server and a browser for one test file. After each test, no page may have logged an error. */
export function world(options: ServerOptions = {}, kind?: Kind) {
  const it = {} as { server: Server; browser: Browser };
  let pages: Page[] = [];
  beforeAll(async () => {
    it.server = await Server.start(options);
    it.browser = await launch(kind);
  });
  afterEach(async () => {
    const opened = pages;
    pages = [];
    const found = opened.flatMap((page) => complaints.get(page) ?? []);
    await Promise.all(opened.map((page) => shut(page.context())));
    expect(found).toEqual([]);
  });
  afterAll(async () => {
    await leave(it.browser);
    await it.server?.stop();
  });
  return {
    get server() {
      return it.server;
    },
    /** Opens a path as a signed-in person. */
    async at(path: string, wish?: Wish): Promise<Page> {
      const { page } = await someone(it.browser, it.server, wish);
      pages.push(page);
      await page.goto(it.server.page + path);
      return page;
    },
  };
}
