import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { Agent } from './support/agent';
import { busyMorning, hostile, STAFF } from './support/scene';
import { world } from './support/world';

const w = world(STAFF);
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
let ids: Record<string, string>;

beforeAll(async () => {
  ids = { ...(await busyMorning(w.server)), hostile: await hostile(w.server) };
});

/**
 * Elements that overflow the screen, and whether the page scrolls sideways. Elements that scroll themselves may be
 * wide.
 */
function spilled(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const within = (element: Element | null): boolean =>
      element !== null &&
      element.id !== 'main' &&
      (/auto|scroll|hidden|clip/u.test(getComputedStyle(element).overflowX) || within(element.parentElement));
    const out = [...document.querySelectorAll('#main *')].filter(
      (one) =>
        one.checkVisibility() && one.getBoundingClientRect().right > clientWidth + 1 && !within(one.parentElement),
    );
    // A word that breaks letter by letter has too little room.
    const squeezed = [...document.querySelectorAll('#main :is(span, code, p, a, div)')].filter((one) => {
      const { width, height } = one.getBoundingClientRect();
      return (
        one.checkVisibility() &&
        one.childElementCount === 0 &&
        (one.textContent?.trim().length ?? 0) > 3 &&
        width < 30 &&
        height > 50
      );
    });
    const names = [...out, ...squeezed].map((one) => `${one.tagName} ${one.textContent?.slice(0, 40)}`);
    return scrollWidth > clientWidth ? [`the page is ${scrollWidth} wide`, ...names] : names;
  });
}

async function drawn(page: Page): Promise<void> {
  await page.locator('h1:visible, h2:visible').first().waitFor();
  await page.waitForFunction(() => document.querySelector('[data-row]') === null);
}

test('no page is wider than a screen of 360 pixels, in the language with the longest words', async () => {
  const page = await w.at('/sign-in', { ...PHONE, locale: 'ru-RU' });
  const asked = ['command', 'file', 'choice', 'form', 'secret', 'hostile'].map((name) => `/inbox/${ids[name]}`);
  const rest = ['/inbox', '/inbox?status=expired', `/sessions/${ids.session}`, '/sessions', '/agents', '/policy'];
  const more = ['/policy?tab=explain', '/policy?tab=history', '/grants', '/audit', '/insights', '/settings'];
  const settings = ['people', 'keys', 'secrets', 'webhooks'].map((tab) => `/settings?tab=${tab}`);
  const found: string[] = [];
  for (const path of ['/sign-in', ...asked, ...rest, ...more, ...settings]) {
    await page.goto(w.server.page + path);
    await drawn(page);
    found.push(...(await spilled(page)).map((what) => `${path}: ${what}`));
  }
  expect(found).toEqual([]);
});

test('the empty inbox explains how to connect an agent and is not wider than the screen', async () => {
  const page = await w.at('/sign-in', PHONE);
  await page.route('**/v1/interactions?**', (route) => route.fulfill({ json: { interactions: [] } }));
  await page.goto(`${w.server.page}/inbox`);
  await page.getByText(/holdpoint keys create --role agent/u).waitFor();
  expect(await spilled(page)).toEqual([]);
});

test('a deep link opens on a phone with large buttons and a link back to the list', async () => {
  const agent = await Agent.open(w.server);
  const call = await agent.propose('c1', 'execute_command', { command: `echo ${'x'.repeat(300)}` });
  const page = await w.at(`/inbox/${call.interaction}`, PHONE);
  const approve = page.getByRole('button', { name: 'Approve', exact: true });
  await approve.waitFor();
  expect((await approve.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  expect(await page.getByRole('searchbox').isVisible()).toBe(false);
  await page.getByRole('article').getByRole('link', { name: 'Inbox' }).tap();
  await page.getByRole('searchbox').waitFor();
});

test.each(['/settings', '/policy'])(
  'all tabs of %s are visible, in the language with the longest words',
  async (path) => {
    const page = await w.at(path, { ...PHONE, locale: 'ru-RU' });
    const tabs = page.locator('main nav button');
    await tabs.last().waitFor();
    for (const tab of await tabs.all()) {
      const box = await tab.boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= 360, await tab.innerText()).toBe(true);
    }
  },
);

test('every page is reached from the bar and its menu', async () => {
  const page = await w.at('/inbox', PHONE);
  await page.getByRole('link', { name: 'Insights' }).tap();
  await page.getByRole('heading', { level: 1, name: 'Insights' }).waitFor();
  await page.getByRole('button', { name: 'More' }).tap();
  await page.getByRole('menuitem', { name: 'Audit' }).tap();
  await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
  await page.getByRole('menu').waitFor({ state: 'detached' });
});

test('many answers do not cover the question, and each can be reached', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({
    kind: 'question',
    title: 'Which of these plans shall I follow?',
    message: 'Read this before you choose. '.repeat(12),
    options: Array.from({ length: 12 }, (_, n) => ({
      id: `o${n}`,
      label: `Option with a rather long label number ${n}`,
      effect: 'provide',
    })),
  });
  const page = await w.at(`/inbox/${asked.id}`, { ...PHONE, viewport: { width: 360, height: 640 } });
  const title = page.getByRole('heading', { name: 'Which of these plans shall I follow?' });
  const last = page.getByRole('button', { name: 'Option with a rather long label number 11' });
  await last.waitFor({ state: 'attached' });
  const dock = await page.locator('[data-dock]').boundingBox();
  expect(dock?.height).toBeLessThanOrEqual(640 * 0.4 + 1);
  const seen = (one: typeof title) =>
    one.evaluate((element) => {
      element.scrollIntoView({ block: 'nearest' });
      const { x, y, width, height } = element.getBoundingClientRect();
      return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    });
  expect(await seen(title)).toBe(true);
  expect(await seen(last)).toBe(true);
  expect(await spilled(page)).toEqual([]);
});
