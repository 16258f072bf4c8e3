import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { Agent } from './support/agent';
import { busyMorning, STAFF } from './support/scene';
import { world } from './support/world';

const w = world(STAFF);
let ids: Record<string, string>;

beforeAll(async () => {
  ids = await busyMorning(w.server);
});

/** Tabs through the page and returns controls that were not reached, not visibly focused, or covered. */
async function unreached(page: Page): Promise<string[]> {
  await page.evaluate(() => {
    const pressable = 'a[href], button:not(:disabled), input:not(:disabled), select, textarea, summary, [role=textbox]';
    const seen = new WeakSet<Element>();
    const unseen: string[] = [];
    const outlined = (element: Element) =>
      [element, element.closest('li'), element.closest('.cm-editor'), element.closest('label')].some((one) => {
        const style = one && getComputedStyle(one);
        return style && style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) >= 1;
      });
    const name = (element: Element) =>
      `${element.tagName} ${(element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 40)}`;
    // An element with several lines, or partly off screen, must be visible in part.
    const covered = (element: Element) => {
      const own = (hit: Element | null) =>
        hit !== null && (element.contains(hit) || hit.closest('label')?.contains(element) === true);
      return ![...element.getClientRects()].some(({ left, right, top, bottom }) => {
        const [x, y] = [(Math.max(left, 0) + Math.min(right, innerWidth)) / 2, [top, (top + bottom) / 2, bottom]];
        return y.some((height, at) => own(document.elementFromPoint(x, height + 2 * (1 - at))));
      });
    };
    Object.assign(window, {
      async note() {
        const now = document.activeElement;
        if (!now || now === document.body || seen.has(now)) return false;
        seen.add(now);
        // An editor draws its focus outline after a short delay, and the page may still be scrolling.
        for (let frame = 0; frame < 60 && (!outlined(now) || covered(now)); frame += 1)
          await new Promise(requestAnimationFrame);
        if (!outlined(now)) unseen.push(`no outline: ${name(now)}`);
        if (covered(now)) unseen.push(`covered: ${name(now)}`);
        return true;
      },
      left() {
        const wanted = [...document.querySelectorAll(pressable)].filter((one) => {
          // In radio groups and tab lists, Tab reaches one element and the arrow keys reach the others.
          const arrows = one.matches('[type=radio], [role=tab]');
          return !arrows && one.checkVisibility({ visibilityProperty: true }) && !seen.has(one);
        });
        return [...unseen, ...wanted.map((one) => `not reached: ${name(one)}`)];
      },
    });
  });
  const act = (call: 'note' | 'left') =>
    page.evaluate((what) => (window as unknown as Record<string, () => unknown>)[what]?.(), call);
  // After the last element the focus may leave the page for several key presses, depending on the browser. Elements
  // that were drawn behind the focus are reached in the next round; a round without new elements is the last one.
  let reached = 0;
  for (let known = 0; known < reached + 8; ) {
    await page.keyboard.press('Tab');
    if (await act('note')) {
      reached += 1;
      known = 0;
    } else known += 1;
    if (known > 0 && known % 8 === 0 && ((await act('left')) as string[]).length === 0) break;
  }
  return (await act('left')) as string[];
}

test.each([
  ['the inbox', () => '/inbox', 'h1'],
  ['a command', () => `/inbox/${ids.command}`, '[data-move]'],
  ['an edit', () => `/inbox/${ids.command}?move=edit`, 'article [role=tab]'],
  ['a form', () => `/inbox/${ids.form}`, 'article form input'],
  ['a session', () => `/sessions/${ids.session}`, 'article [data-move]'],
  ['the agents', () => '/agents', 'li button'],
  ['the policy', () => '/policy', '.cm-content'],
  ['the audit trail', () => '/audit', 'li summary'],
  ['the insights', () => '/insights', 'select'],
  ['the keys', () => '/settings?tab=keys', 'li button'],
])('%s: every control is reached by Tab and shows its focus', async (_, path, drawn) => {
  const page = await w.at(path());
  await page.locator(drawn).first().waitFor();
  await page.getByRole('img', { name: 'Live' }).first().waitFor();
  expect(await unreached(page)).toEqual([]);
});

test.each([
  ['a command', () => `/inbox/${ids.command}`, '[data-move]'],
  ['an edit', () => `/inbox/${ids.command}?move=edit`, 'article [role=tab]'],
  ['a form', () => `/inbox/${ids.form}`, 'article form input'],
])('%s on a narrow screen: the focused control is not covered', async (_, path, drawn) => {
  const page = await w.at(path(), { viewport: { width: 360, height: 740 } });
  await page.locator(drawn).first().waitFor();
  await page.getByRole('img', { name: 'Live' }).first().waitFor();
  expect(await unreached(page)).toEqual([]);
});

test('the first stop of Tab is the skip link', async () => {
  const page = await w.at('/inbox');
  await page.locator('h1').waitFor();
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
});

test('an approval is edited, and another one rejected, without a mouse', async () => {
  const agent = await Agent.open(w.server, 'By keys alone');
  const first = await agent.propose('c1', 'execute_command', { command: 'make' });
  const second = await agent.propose('c2', 'execute_command', { command: 'make clean' });
  const page = await w.at(`/inbox/${first.interaction}`);
  await page.getByRole('button', { name: 'Edit and approve' }).waitFor();
  await page.keyboard.press('e');
  const field = page.getByRole('textbox', { name: 'command' });
  await field.waitFor();
  await expect.poll(() => field.evaluate((one) => one.ownerDocument.activeElement === one)).toBe(true);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('make -j2');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You approved this with changes' }).waitFor();
  expect(await agent.action('c1')).toMatchObject({ state: 'allowed', arguments: { command: 'make -j2' } });
  await page.goto(`${w.server.page}/inbox/${second.interaction}`);
  await page.getByRole('button', { name: 'Reject', exact: true }).waitFor();
  await page.keyboard.press('r');
  await page.keyboard.type('Not now.');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('article').getByRole('status').filter({ hasText: 'Not now.' }).waitFor();
  expect((await agent.action('c2')).state).toBe('rejected');
});

test('a rejection started from the list stays in view when its diff loads late', async () => {
  const page = await w.at('/inbox?kind=approval');
  await page.locator(`[data-question="${ids.file}"] a`).focus();
  await page.keyboard.press('r');
  await page.locator('.cm-changedLine').first().waitFor();
  const field = page.getByRole('textbox', { name: /Reason/u });
  const inSight = () =>
    field.evaluate((one) => {
      const { top, bottom } = one.getBoundingClientRect();
      return one === document.activeElement && top >= 0 && bottom <= innerHeight;
    });
  await expect.poll(inSight).toBe(true);
});

test('a menu is opened, walked and left by keys', async () => {
  const page = await w.at('/inbox');
  const account = page.getByRole('button', { name: 'Account of alice' }).first();
  await account.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menu').waitFor();
  await page.keyboard.press('ArrowDown');
  const outline = () => page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle);
  await expect.poll(outline).toBe('solid');
  expect(await page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('menuitemradio');
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  expect(await account.evaluate((one) => one === document.activeElement)).toBe(true);
});

test('keys work on a Russian layout', async () => {
  const page = await w.at('/inbox', { locale: 'ru-RU' });
  await page.locator('[data-question]').first().waitFor();
  const press = (key: string, code: string) =>
    page.evaluate(
      (init) => (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent('keydown', init)),
      { key, code, bubbles: true, cancelable: true },
    );
  await press('о', 'KeyJ');
  await page.waitForURL(/inbox\/int_/u);
  await page.locator('article [data-move]').first().waitFor();
  await press('ф', 'KeyA');
  await page.waitForFunction(() => document.activeElement?.matches('[data-move]'));
});
