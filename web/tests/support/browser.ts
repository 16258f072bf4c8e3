import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import type { Server } from './server';

export type Kind = 'fast' | 'full';

/**
 * The programs of the browsers. The fast one may be Chromium's headless shell, which refuses all notifications, even with the permission;
 * the full one is Chromium itself.
 */
const PROGRAMS: Record<Kind, string> = {
  fast: process.env.CHROMIUM || '/usr/bin/chromium',
  full: process.env.CHROMIUM_FULL || process.env.CHROMIUM || '/usr/bin/chromium',
};

const launched = new Map<string, Promise<Browser>>();

/** A browser of this worker. The test files that the worker runs share it, each with its own contexts; it is closed with the worker. */
export function launch(kind: Kind = 'fast'): Promise<Browser> {
  const executablePath = PROGRAMS[kind];
  const running =
    launched.get(executablePath) ??
    chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb', '--font-render-hinting=none'],
    });
  launched.set(executablePath, running);
  return running;
}

/** Closes a context. A request that a route of a test still handles ends with it, which is no error. */
export async function shut(context: BrowserContext): Promise<void> {
  await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
  await context.close();
}

/** Closes the pages of a test file. */
export async function leave(browser?: Browser): Promise<void> {
  await Promise.all(browser?.contexts().map(shut) ?? []);
}

/** Errors of a page: CSP violations, exceptions and console messages. */
export const complaints = new WeakMap<Page, string[]>();

interface Wish extends BrowserContextOptions {
  user?: string;
}

/** A browser context of a signed-in person. */
export async function someone(
  browser: Browser,
  server: Server,
  wish: Wish = {},
): Promise<{ page: Page; context: BrowserContext }> {
  const { user = 'alice', ...options } = wish;
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, locale: 'en-GB', ...options });
  const value = await server.cookie(user);
  if (value) {
    await context.addCookies([
      { name: 'holdpoint_session', value, url: server.page, httpOnly: true, sameSite: 'Strict' },
    ]);
  }
  const page = await context.newPage();
  const found: string[] = [];
  complaints.set(page, found);
  page.on('pageerror', (error) => found.push(String(error)));
  page.on('console', (message) => {
    if (
      message.type() === 'error' &&
      !/status of (4|5)\d\d|ERR_CONNECTION|ERR_SOCKET_NOT_CONNECTED|ERR_INCOMPLETE|ERR_FAILED/u.test(message.text())
    )
      found.push(message.text());
  });
  page.setDefaultTimeout(60_000);
  return { page, context };
}

/** Replaces the text of an editor by keyboard: select all, delete, type. */
export async function rewrite(editor: Locator, text: string): Promise<void> {
  await editor.click();
  await editor.press('Control+a');
  await editor.press('Delete');
  await editor.page().keyboard.insertText(text);
}
