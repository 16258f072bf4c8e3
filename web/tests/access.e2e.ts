import AxeBuilder from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Interaction } from '@/api/types';
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
  const granted = await agent.propose('yes', 'delete_file', { path: '/tmp/a' });
  const remember = { scope: 'project', arguments: { path: '/tmp/*' }, seconds: 3600, uses: 20 };
  await post('bob', `/v1/interactions/${granted.interaction}/answer`, { option: 'approve', remember });
  ids.handed = (await agent.ask({ kind: 'confirmation', title: 'Asked elsewhere' })).id;
  await post('bob', `/v1/interactions/${ids.handed}/handover`, { note: 'You know this better.' });
  const { handed_over: to } = await agent.call<Interaction>('GET', `/v1/interactions/${ids.handed}`);
  ids.received = to?.interaction ?? '';
  await agent.decided(ids.expired);
});

/** Every page with a language-independent selector that shows that it is drawn; axe runs after it appears. */
const PAGES: [string, () => string, string][] = [
  ['inbox', () => '/inbox', '[data-question]'],
  ['edit', () => `/inbox/${ids.command}?move=edit`, 'article form :is(input, textarea)'],
  ['reject', () => `/inbox/${ids.file}?move=reject`, '.cm-changedLine'],
  ['choice', () => `/inbox/${ids.choice}`, 'article [type=radio]'],
  ['form', () => `/inbox/${ids.form}`, 'article form input'],
  ['secret', () => `/inbox/${ids.open}`, 'article [type=password]'],
  ['session', () => `/sessions/${ids.session}`, 'article [data-move]'],
  ['sessions', () => '/sessions', 'main li a'],
  ['agents', () => '/agents', 'main li button'],
  ['policy', () => '/policy', '.cm-content'],
  ['explain', () => '/policy?tab=explain', 'main textarea'],
  ['history', () => '/policy?tab=history', 'main li button'],
  ['grants', () => '/grants', 'main li a'],
  ['audit', () => '/audit?period=all', 'main li summary'],
  ['insights', () => '/insights', 'main td.tabular-nums'],
  ['settings', () => '/settings', 'main [type=password]'],
  ['keys', () => '/settings?tab=keys', 'main li button'],
  ['people', () => '/settings?tab=people', 'main li button'],
  ['kept secrets', () => '/settings?tab=secrets', 'main li button'],
  ['webhooks', () => '/settings?tab=webhooks', 'main li button'],
  ['an answered question', () => `/inbox/${ids.secret}`, 'article [role=status]'],
  ['an expired question', () => `/inbox/${ids.expired}`, 'article [role=status]'],
  ['a rejected question', () => `/inbox/${ids.rejected}`, 'article [role=status]'],
  ['a question handed over', () => `/inbox/${ids.handed}`, `article a[href^="/inbox/int_"]`],
  ['the one in its place', () => `/inbox/${ids.received}`, `article a[href^="/inbox/int_"]`],
  ['no question', () => '/inbox/int_0', 'section[aria-label] :is(h1, h2)'],
  ['no session', () => '/sessions/ses_0', 'h1'],
  ['no page', () => '/nowhere', 'h1'],
  ['sign-in', () => '/sign-in', '[name=user]'],
];

/** Serious findings of axe, run inside the page without the extra tab that axe opens for results. */
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

const LOOKS = [
  ['en', { locale: 'en-GB' }],
  ['ru', { locale: 'ru-RU', viewport: { width: 360, height: 740 } }],
  ['zh', { locale: 'zh-CN' }],
] as const;

describe.each(LOOKS)('in %s', (_language, look) => {
  test.each(PAGES)('axe finds no serious problem (%s)', async (_, path, drawn) => {
    const page = await w.at(path(), { ...look, colorScheme: 'light', reducedMotion: 'reduce' });
    await page.locator(drawn).first().waitFor();
    expect(await serious(page)).toEqual([]);
    expect(await page.locator('h1:visible').count()).toBe(1);
    await dark(page);
  });
});

/** Checks the contrast of the dark theme; the structure is the same as in the light theme. */
async function dark(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark' });
  // Chromium applies the new colours gradually.
  await expect.poll(() => serious(page, 'colours'), { interval: 500 }).toEqual([]);
}

test('dialogs keep the focus, and give it back', async () => {
  const page = await w.at('/policy', { reducedMotion: 'reduce' });
  const opener = page.getByRole('button', { name: 'Pause approvals (allow everything)' });
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
  ['another role', () => '/settings?tab=people', ['Edit bob']],
  ['a link', () => '/settings?tab=people', ['One-time link for bob']],
  ['locking out', () => '/settings?tab=people', ['Disable bob']],
  ['a new person', () => '/settings?tab=people', ['New person']],
  ['a new key', () => '/settings?tab=keys', ['New key']],
  ['revoking', () => '/settings?tab=keys', ['Revoke the key of bob']],
  ['a new webhook', () => '/settings?tab=webhooks', ['New webhook']],
  ['taking back', () => '/grants', ['Revoke']],
  ['starting', () => '/agents', ['Start release']],
  ['cancelling', () => `/sessions/${ids.session}`, ['Cancel']],
  ['handing over', () => `/inbox/${ids.choice}`, ['More', 'Hand over…']],
  ['the keys', () => '/inbox', ['Account of alice', 'Keyboard shortcuts']],
])('axe finds no serious problem in a dialog (%s)', async (_, path, [opener = '', item]) => {
  const page = await w.at(path(), { reducedMotion: 'reduce' });
  await page.getByRole('button', { name: opener, exact: true }).first().click();
  if (item) await page.getByRole('menuitem', { name: item }).click();
  await page.getByRole('dialog').waitFor();
  expect(await serious(page, 'dialog')).toEqual([]);
  await dark(page);
});

test('animations are off with reduced motion', async () => {
  const moving = async (reducedMotion: 'reduce' | 'no-preference') => {
    const page = await w.at('/policy', { reducedMotion });
    await page.getByRole('button', { name: 'Pause approvals (allow everything)' }).click();
    await page.getByRole('dialog').waitFor();
    return page.evaluate(() => getComputedStyle(document.querySelector('[role=dialog]') as Element).animationDuration);
  };
  expect(Number.parseFloat(await moving('no-preference'))).toBeGreaterThan(0.1);
  expect(Number.parseFloat(await moving('reduce'))).toBeLessThan(0.001);
});
