import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { launch, someone } from './support/browser';
import { busyMorning, STAFF } from './support/scene';
import { Server } from './support/server';

const OUT = fileURLToPath(new URL('../screenshots', import.meta.url));

const LOOKS = [
  { name: 'desk-light', viewport: { width: 1280, height: 860 }, colorScheme: 'light', locale: 'en-GB' },
  { name: 'desk-dark', viewport: { width: 1280, height: 860 }, colorScheme: 'dark', locale: 'en-GB' },
  { name: 'phone-light', viewport: { width: 390, height: 844 }, colorScheme: 'light', locale: 'en-GB' },
  { name: 'phone-dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark', locale: 'en-GB' },
  { name: 'desk-ru', viewport: { width: 1280, height: 860 }, colorScheme: 'light', locale: 'ru-RU' },
  { name: 'desk-zh', viewport: { width: 1280, height: 860 }, colorScheme: 'light', locale: 'zh-CN' },
  { name: 'phone-ru', viewport: { width: 360, height: 780 }, colorScheme: 'light', locale: 'ru-RU' },
] as const;

let server: Server;
let browser: Browser;
let ids: Record<string, string>;

beforeAll(async () => {
  server = await Server.start(STAFF);
  browser = await launch();
  ids = await busyMorning(server);
  await grant();
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Somebody has already worked this morning, so that grants, figures and the trail have something to show. */
async function grant(): Promise<void> {
  const headers = { Authorization: `Bearer ${server.keys.get('bob')}`, 'Content-Type': 'application/json' };
  const list = await fetch(`${server.address}/v1/interactions?status=pending&limit=200`, { headers });
  const { interactions } = (await list.json()) as {
    interactions: { id: string; title: string; action?: { tool: string } }[];
  };
  const tidy = interactions.find((one) => one.action?.tool === 'delete_file');
  const body = {
    option: 'approve',
    remember: { scope: 'project', arguments: { path: '/srv/repos/tmp/*' }, seconds: 86_400, uses: 100 },
  };
  await fetch(`${server.address}/v1/interactions/${tidy?.id}/answer`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const notice = interactions.find((one) => one.title.startsWith('Backup'));
  await fetch(`${server.address}/v1/interactions/${notice?.id}/answer`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ effect: 'provide' }),
  });
}

const SHOTS: Record<string, (page: Page) => Promise<void>> = {
  inbox: (page) => open(page, '/inbox'),
  command: (page) => open(page, `/inbox/${ids.command}`),
  file: (page) => open(page, `/inbox/${ids.file}`),
  edit: async (page) => {
    await open(page, `/inbox/${ids.command}?move=edit`);
    const field = page.getByRole('textbox', { name: 'command' });
    await field.fill((await field.inputValue()).replace('--tags', '--follow-tags'));
    await page.locator('.cm-changedText').first().waitFor();
    await page.locator('.cm-changedText').first().scrollIntoViewIfNeeded();
  },
  choice: (page) => open(page, `/inbox/${ids.choice}`),
  form: (page) => open(page, `/inbox/${ids.form}`),
  secret: (page) => open(page, `/inbox/${ids.secret}`),
  session: (page) => open(page, `/sessions/${ids.session}`),
  sessions: (page) => open(page, '/sessions'),
  agents: (page) => open(page, '/agents'),
  policy: (page) => open(page, '/policy'),
  explain: async (page) => {
    await open(page, '/policy?tab=explain');
    await page.locator('form button[type=submit]').click();
  },
  grants: (page) => open(page, '/grants'),
  audit: (page) => open(page, '/audit'),
  figures: (page) => open(page, '/figures'),
  settings: (page) => open(page, '/settings?tab=keys'),
};

async function open(page: Page, path: string): Promise<void> {
  await page.goto(server.page + path);
  await page.locator('h1:visible, h2:visible').first().waitFor();
  await page.waitForLoadState('load');
  await page.evaluate(() => document.fonts.ready);
}

for (const { name: look, ...options } of LOOKS) {
  test(look, async () => {
    const folder = `${OUT}/${look}`;
    mkdirSync(folder, { recursive: true });
    const { page, context } = await someone(browser, server, { ...options, reducedMotion: 'reduce' });
    for (const [name, shot] of Object.entries(SHOTS)) {
      await shot(page);
      await page.waitForTimeout(500);
      await page.screenshot({ path: `${folder}/${name}.png` });
    }
    await context.clearCookies();
    await page.goto(`${server.page}/sign-in`);
    await page.locator('form').waitFor();
    await page.screenshot({ path: `${folder}/sign-in.png` });
    await context.close();
  });
}
