import AxeBuilder from '@axe-core/playwright';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { Agent } from './support/agent';
import { busyMorning, STAFF } from './support/scene';
import { world } from './support/world';

const w = world(STAFF);
let ids: Record<string, string>;

beforeAll(async () => {
  ids = await busyMorning(w.server);
  const agent = await Agent.open(w.server, 'Closed');
  const secrets = [{ name: 'S3_SECRET_KEY', label: 'Secret key' }];
  ids.open = (await agent.ask({ kind: 'secret', title: 'Still open', secrets })).id;
  ids.expired = (await agent.ask({ kind: 'confirmation', title: 'Too late', deadline_seconds: 1 })).id;
  const refused = await agent.propose('no', 'execute_command', { command: 'rm -rf build' });
  ids.rejected = refused.interaction ?? '';
  const post = async (user: string, path: string, body: unknown) => {
    const headers = { Authorization: `Bearer ${w.server.keys.get(user)}`, 'Content-Type': 'application/json' };
    const reply = await fetch(w.server.address + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  };
  await post('bob', `/v1/interactions/${ids.rejected}/answer`, { option: 'reject', feedback: 'Not on a Friday.' });
  const data = { S3_ACCESS_KEY: 'a', S3_SECRET_KEY: 'b' };
  await post('bob', `/v1/interactions/${ids.secret}/answer`, { effect: 'provide', data, keep: true });
  await post('alice', '/v1/webhooks', { url: 'https://example.org/hook' });
  await agent.decided(ids.expired);
});

/** Every page, and what stands there once it is drawn: axe looks at nothing before. */
const PAGES: [string, () => string, (page: Page) => Locator][] = [
  ['inbox', () => '/inbox', (page) => page.locator('[data-question]').first()],
  ['edit', () => `/inbox/${ids.command}?move=edit`, (page) => page.getByRole('textbox', { name: 'command' })],
  ['reject', () => `/inbox/${ids.file}?move=reject`, (page) => page.locator('.cm-changedLine').first()],
  ['choice', () => `/inbox/${ids.choice}`, (page) => page.getByRole('radio').first()],
  ['form', () => `/inbox/${ids.form}`, (page) => page.getByLabel('Minutes')],
  ['secret', () => `/inbox/${ids.open}`, (page) => page.getByLabel('Secret key', { exact: true })],
  ['session', () => `/sessions/${ids.session}`, (page) => page.getByText('Session started')],
  ['sessions', () => '/sessions', (page) => page.getByRole('link', { name: 'Release 1.4 to production' })],
  ['agents', () => '/agents', (page) => page.getByRole('button', { name: 'Start release' })],
  ['policy', () => '/policy', (page) => page.getByRole('textbox', { name: 'Policy in TOML' })],
  ['explain', () => '/policy?tab=explain', (page) => page.getByRole('textbox', { name: 'Arguments as JSON' })],
  ['history', () => '/policy?tab=history', (page) => page.getByRole('button', { name: 'Changes' }).first()],
  ['grants', () => '/grants', (page) => page.getByRole('heading', { level: 2 }).first()],
  ['audit', () => '/audit?period=all', (page) => page.getByRole('listitem').locator('summary').first()],
  ['figures', () => '/figures', (page) => page.getByRole('listitem').filter({ hasText: 'Approval' }).first()],
  ['settings', () => '/settings', (page) => page.getByRole('button', { name: 'Set password' })],
  ['keys', () => '/settings?tab=keys', (page) => page.getByRole('button', { name: 'Revoke the key of bob' })],
  ['people', () => '/settings?tab=people', (page) => page.getByRole('button', { name: 'Lock out bob' })],
  ['kept secrets', () => '/settings?tab=secrets', (page) => page.getByText('S3_ACCESS_KEY')],
  ['webhooks', () => '/settings?tab=webhooks', (page) => page.getByText('https://example.org/hook')],
  ['an answered question', () => `/inbox/${ids.secret}`, (page) => page.getByText(/Answered by bob/u).first()],
  ['an expired question', () => `/inbox/${ids.expired}`, (page) => page.getByText(/Nobody answered in time/u).first()],
  ['a rejected question', () => `/inbox/${ids.rejected}`, (page) => page.getByText('Not on a Friday.').first()],
  ['sign-in', () => '/sign-in', (page) => page.getByRole('textbox', { name: 'User name' })],
];

/** What axe finds serious. It looks from within the page: without the second tab that it would open to gather results. */
async function serious(page: Page, look?: 'colours' | 'dialog'): Promise<string[]> {
  const builder = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ['violations'] });
  if (look === 'dialog') builder.include('[role=dialog]');
  if (look === 'colours') builder.withRules(['color-contrast', 'link-in-text-block']);
  else builder.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']);
  const { violations } = await builder.analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
}

test.each(PAGES)('axe has nothing serious to say (%s)', async (_, path, drawn) => {
  const page = await w.at(path(), { colorScheme: 'light', reducedMotion: 'reduce' });
  await drawn(page).waitFor();
  expect(await serious(page)).toEqual([]);
  // In the dark the colours are others, and everything else is the same.
  await page.emulateMedia({ colorScheme: 'dark' });
  // The browser takes them over part by part.
  await expect.poll(() => serious(page, 'colours'), { interval: 500 }).toEqual([]);
});

test('dialogs keep the focus, and give it back', async () => {
  const page = await w.at('/policy', { reducedMotion: 'reduce' });
  const opener = page.getByRole('button', { name: 'Switch asking off' });
  await opener.click();
  await page.getByRole('dialog').waitFor();
  for (let press = 0; press < 8; press += 1) {
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.closest('[role=dialog]') !== null)).toBe(true);
  }
  expect(await serious(page, 'dialog')).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true);
});

test.each([
  ['another role', '/settings?tab=people', 'Change bob'],
  ['a new person', '/settings?tab=people', 'New person'],
  ['a new key', '/settings?tab=keys', 'New key'],
  ['a new webhook', '/settings?tab=webhooks', 'New webhook'],
])('axe has nothing serious to say of a dialog (%s)', async (_, path, opener) => {
  const page = await w.at(path, { reducedMotion: 'reduce' });
  await page.getByRole('button', { name: opener }).click();
  await page.getByRole('dialog').waitFor();
  expect(await serious(page, 'dialog')).toEqual([]);
});

test('nothing moves for those who want no motion', async () => {
  const moving = async (reducedMotion: 'reduce' | 'no-preference') => {
    const page = await w.at('/policy', { reducedMotion });
    await page.getByRole('button', { name: 'Switch asking off' }).click();
    await page.getByRole('dialog').waitFor();
    return page.evaluate(() => getComputedStyle(document.querySelector('[role=dialog]') as Element).animationDuration);
  };
  expect(Number.parseFloat(await moving('no-preference'))).toBeGreaterThan(0.1);
  expect(Number.parseFloat(await moving('reduce'))).toBeLessThan(0.001);
});
