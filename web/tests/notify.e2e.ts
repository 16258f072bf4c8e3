import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

const w = world({}, 'full');

/** Records the notifications of the page; or makes the constructor throw, as phones do. */
function watch(page: Page, broken = false): Promise<void> {
  return page.evaluate((refuse) => {
    const made: Notification[] = [];
    const Real = window.Notification;
    class Seen extends Real {
      constructor(title: string, options?: NotificationOptions) {
        if (refuse) throw new TypeError('Illegal constructor');
        super(title, options);
        made.push(this);
      }
    }
    Object.assign(window, { Notification: Seen, made });
  }, broken);
}

const made = (page: Page) =>
  page.evaluate(() =>
    (window as unknown as { made: Notification[] }).made.map(({ title, body }) => [title, body] as const),
  );

/** Makes the tab hidden; headless tabs are always visible. */
function look(page: Page, state: 'visible' | 'hidden'): Promise<void> {
  return page.evaluate(async (now) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => now });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
}

/** Whether any tab holds the lock of a visible tab. */
const lookedAt = (page: Page) =>
  page.evaluate(async () => (await navigator.locks.query()).held?.some(({ name }) => name?.includes('looking')));

async function wish(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account of alice' }).first().click();
  await page.getByRole('menuitem', { name: 'Notify me of questions' }).click();
}

test('a hidden page sends a notification that leads to the question', async () => {
  const page = await w.at('/inbox', { permissions: ['notifications'] });
  await page.getByRole('img', { name: 'Live' }).first().waitFor();
  await watch(page);
  const agent = await Agent.open(w.server);
  await look(page, 'hidden');
  await expect.poll(() => lookedAt(page)).toBe(false);
  await agent.ask({ kind: 'confirmation', title: 'Before it was wished for' });
  await page.getByRole('link', { name: 'Before it was wished for' }).waitFor();
  expect(await made(page)).toEqual([]);
  await wish(page);
  await agent.ask({ kind: 'confirmation', title: 'Not for alice', audience: { users: ['bob'] } });
  await agent.ask({ kind: 'confirmation', title: 'Is anybody there?' });
  await expect.poll(() => made(page)).toEqual([['Is anybody there?', 'release-bot']]);
  await look(page, 'visible');
  await agent.ask({ kind: 'confirmation', title: 'Seen anyway' });
  await page.getByRole('link', { name: 'Seen anyway' }).waitFor();
  expect(await made(page)).toHaveLength(1);
  await page.evaluate(() => (window as unknown as { made: Notification[] }).made[0]?.dispatchEvent(new Event('click')));
  await page.getByRole('heading', { level: 2, name: 'Is anybody there?' }).waitFor();
});

test('no notification is sent while another tab is visible', async () => {
  const page = await w.at('/inbox', { permissions: ['notifications'] });
  await page.getByRole('img', { name: 'Live' }).first().waitFor();
  await watch(page);
  await wish(page);
  const front = await page.context().newPage();
  await front.goto(`${w.server.page}/inbox`);
  await front.getByRole('img', { name: 'Live' }).first().waitFor();
  await look(page, 'hidden');
  const agent = await Agent.open(w.server);
  await agent.ask({ kind: 'confirmation', title: 'Seen in front' });
  for (const tab of [page, front]) await tab.getByRole('link', { name: 'Seen in front' }).waitFor();
  await front.close();
  await expect.poll(() => lookedAt(page)).toBe(false);
  await agent.ask({ kind: 'confirmation', title: 'Seen nowhere' });
  await expect.poll(() => made(page)).toEqual([['Seen nowhere', 'release-bot']]);
});

test('a page that cannot create notifications keeps receiving events', async () => {
  const page = await w.at('/inbox', { permissions: ['notifications'] });
  await page.getByRole('img', { name: 'Live' }).first().waitFor();
  await watch(page, true);
  await wish(page);
  await look(page, 'hidden');
  await expect.poll(() => lookedAt(page)).toBe(false);
  const agent = await Agent.open(w.server);
  for (const title of ['Heard once', 'Heard twice']) {
    await agent.ask({ kind: 'confirmation', title });
    await page.getByRole('link', { name: title }).waitFor();
  }
  await page.getByRole('img', { name: 'Live' }).first().waitFor();
});

test('a person is told if the browser blocks notifications', async () => {
  const page = await w.at('/inbox');
  await page.evaluate(() => {
    Object.assign(window.Notification, { requestPermission: async () => 'denied' });
  });
  await wish(page);
  await page.getByText('This browser blocks notifications', { exact: false }).first().waitFor();
  await page.getByRole('button', { name: 'Account of alice' }).first().click();
  await page.getByRole('menuitem', { name: 'Notify me of questions' }).waitFor();
});

test('the sign-in page clears the badge of an installed page', async () => {
  const page = await w.at('/sign-in', { user: 'nobody' });
  await page.addInitScript(() => {
    Object.assign(navigator, {
      clearAppBadge: async () => Object.assign(window, { cleared: true }),
      setAppBadge: async () => undefined,
    });
  });
  await page.reload();
  await page.waitForFunction(() => 'cleared' in window);
});
