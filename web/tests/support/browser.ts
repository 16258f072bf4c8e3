import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import type { Server } from './server';

let launched: Promise<Browser> | undefined;

/**
 * The browser of this worker. The test files that the worker runs share it, each with its own contexts; it is closed
 * with the worker.
 */
export function launch(): Promise<Browser> {
  launched ??= chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb', '--font-render-hinting=none'],
  });
  return launched;
}

/** Closes the pages of a test file. */
export async function leave(browser?: Browser): Promise<void> {
  await Promise.all(browser?.contexts().map((context) => context.close()) ?? []);
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
      !/status of (4|5)\d\d|ERR_CONNECTION|ERR_INCOMPLETE|ERR_FAILED/u.test(message.text())
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
