import AxeBuilder from '@axe-core/playwright';
import { expect, test } from 'vitest';
import { busyMorning, STAFF } from './support/scene';
import { world } from './support/world';

const w = world(STAFF);

const pages = (ids: Record<string, string>) => ({
  light: [
    '/inbox?kind=approval&sort=newest',
    `/inbox/${ids.command}?move=edit`,
    `/inbox/${ids.file}?move=reject`,
    `/inbox/${ids.choice}`,
    `/inbox/${ids.form}`,
    `/inbox/${ids.secret}`,
    `/sessions/${ids.session}`,
    '/sessions',
    '/agents',
    '/policy',
    '/policy?tab=explain',
    '/policy?tab=history',
    '/grants',
    '/audit?period=all',
    '/figures',
    '/settings',
    '/settings?tab=keys',
    '/settings?tab=people',
    '/sign-in',
  ],
  dark: [
    '/inbox',
    `/inbox/${ids.file}?move=reject`,
    `/inbox/${ids.choice}`,
    `/sessions/${ids.session}`,
    '/policy',
    '/figures',
  ],
});

test.each(['light', 'dark'] as const)(
  'axe has nothing serious to say (%s)',
  { timeout: 120_000 },
  async (colorScheme) => {
    const ids = await busyMorning(w.server);
    const page = await w.at('/inbox', { colorScheme, reducedMotion: 'reduce' });
    const found: string[] = [];
    for (const path of pages(ids)[colorScheme]) {
      await page.goto(w.server.page + path);
      await page.locator('h1:visible').first().waitFor();
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
      const { violations } = await new AxeBuilder({ page })
        .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
        .analyze();
      for (const { id, impact, nodes } of violations) {
        if (impact === 'serious' || impact === 'critical')
          found.push(`${path} ${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
      }
    }
    expect(found).toEqual([]);
  },
);

test('dialogs keep the focus, and give it back', async () => {
  const page = await w.at('/policy');
  const opener = page.getByRole('button', { name: 'Switch asking off' });
  await opener.click();
  await page.getByRole('dialog').waitFor();
  for (let press = 0; press < 8; press += 1) {
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.closest('[role=dialog]') !== null)).toBe(true);
  }
  const { violations } = await new AxeBuilder({ page }).include('[role=dialog]').analyze();
  expect(violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true);
});

test('the page can be left and entered without a mouse: skip link first, then the pages', async () => {
  const page = await w.at('/inbox');
  await page.locator('h1').waitFor();
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the page');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
});
