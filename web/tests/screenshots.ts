import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { launch, leave, someone } from './support/browser';
import { Endpoint } from './support/endpoint';
import { busyMorning, hostile, STAFF } from './support/scene';
import { Server } from './support/server';

const OUT = fileURLToPath(new URL('../screenshots', import.meta.url));
const SCREENS = { desk: { width: 1280, height: 860 }, phone: { width: 360, height: 780 } } as const;
const LANGUAGES = { en: 'en-GB', ru: 'ru-RU', zh: 'zh-CN' } as const;

/** Screenshots of every page, theme and language. */
const LOOKS = (['desk', 'phone'] as const).flatMap((screen) =>
  (['light', 'dark'] as const).flatMap((colorScheme) =>
    (['en', 'ru', 'zh'] as const).map((language) => ({
      look: `${screen}-${colorScheme}-${language}`,
      viewport: SCREENS[screen],
      colorScheme,
      locale: LANGUAGES[language],
    })),
  ),
);

let server: Server;
let endpoint: Endpoint;
let browser: Browser;
let ids: Record<string, string>;

beforeAll(async () => {
  rmSync(OUT, { recursive: true, force: true });
  endpoint = await Endpoint.start();
  endpoint.replies = [503];
  server = await Server.start({ ...STAFF, words: ['--webhooks-networks', '127.0.0.0/8'] });
  browser = await launch();
  ids = { ...(await busyMorning(server)), hostile: await hostile(server) };
  await morningsWork();
});

afterAll(async () => {
  await leave(browser);
  await server?.stop();
  await endpoint?.stop();
});

async function as<T>(user: string, path: string, body?: unknown): Promise<T> {
  const reply = await fetch(server.address + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${server.keys.get(user)}`, 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as T;
}

/** Creates activity, so that standing approvals, insights, the audit trail and failed flows have content. */
async function morningsWork(): Promise<void> {
  type Open = { interactions: { id: string; title: string; action?: { tool: string } }[] };
  const { interactions } = await as<Open>('bob', '/v1/interactions?status=pending&limit=200');
  const tidy = interactions.find((one) => one.action?.tool === 'delete_file');
  const remember = { scope: 'project', arguments: { path: '/srv/repos/tmp/*' }, seconds: 86_400, uses: 100 };
  await as('bob', `/v1/interactions/${tidy?.id}/answer`, { option: 'approve', remember });
  ids.ended = tidy?.id ?? '';
  const notice = interactions.find((one) => one.title.startsWith('Backup'));
  await as('bob', `/v1/interactions/${notice?.id}/answer`, { effect: 'provide' });
  await as('alice', '/v1/webhooks', {
    url: 'https://hooks.example.com/answers',
    answers_of: 'release-bot',
    enabled: false,
  });
  const pager = {
    url: endpoint.url,
    events: ['interaction.*', 'session.failed'],
    description: 'Tells the on-call channel',
  };
  ids.webhook = (await as<{ id: string }>('alice', '/v1/webhooks', pager)).id;
  await as('alice', `/v1/webhooks/${ids.webhook}/test`, {});
  await endpoint.heard(() => true);
  ids.failed = (await as<{ id: string }>('alice', '/v1/sessions', { flow: 'release', input: { version: '1.4.0' } })).id;
}

const SHOTS: Record<string, (page: Page) => Promise<void>> = {
  inbox: (page) => open(page, '/inbox'),
  filters: async (page) => {
    await open(page, '/inbox?kind=approval&sort=newest');
    await page.locator('[data-question] input').first().check();
    await page.locator('[data-question] input').nth(1).check();
  },
  batch: async (page) => {
    await open(page, '/inbox?kind=approval');
    await page.locator('[data-question] input').first().check();
    await page.locator('section:has(button) > button').last().click();
    await page.getByRole('dialog').waitFor();
  },
  nothing: (page) => open(page, '/inbox?status=expired'),
  empty: async (page) => {
    await page.route('**/v1/interactions?**', (route) => route.fulfill({ json: { interactions: [] } }));
    await open(page, '/inbox');
  },
  command: (page) => open(page, `/inbox/${ids.command}`),
  hostile: (page) => open(page, `/inbox/${ids.hostile}`),
  file: async (page) => {
    await open(page, `/inbox/${ids.file}`);
    await page.locator('.cm-changedLine').first().waitFor();
  },
  edit: async (page) => {
    await open(page, `/inbox/${ids.command}?move=edit`);
    const field = page.getByRole('textbox', { name: 'command' });
    await field.fill((await field.inputValue()).replace('--tags', '--follow-tags'));
    await page.locator('.cm-changedText').first().waitFor();
    await page.locator('.cm-changedText').first().scrollIntoViewIfNeeded();
  },
  reject: async (page) => {
    await open(page, `/inbox/${ids.file}?move=reject`);
    await page.locator('fieldset textarea').fill('Not before the backup has run.');
  },
  choice: (page) => open(page, `/inbox/${ids.choice}`),
  form: (page) => open(page, `/inbox/${ids.form}`),
  wrong: async (page) => {
    await open(page, `/inbox/${ids.form}`);
    await page.locator('[data-move]').first().click();
    await page.locator('form [role=alert]').first().waitFor();
    await page.locator('form [role=alert]').first().scrollIntoViewIfNeeded();
  },
  secret: (page) => open(page, `/inbox/${ids.secret}`),
  ended: (page) => open(page, `/inbox/${ids.ended}`),
  session: (page) => open(page, `/sessions/${ids.session}`),
  failed: (page) => open(page, `/sessions/${ids.failed}`),
  sessions: (page) => open(page, '/sessions'),
  agents: async (page) => {
    await open(page, '/agents');
    await page.locator('li button[aria-expanded]').nth(1).click();
  },
  add: async (page) => {
    await open(page, '/agents');
    await page.locator('header button').nth(-1).click();
    await page.locator('.cm-content').waitFor();
  },
  start: async (page) => {
    await open(page, '/agents');
    await page.locator('li button').nth(1).click();
    await page.getByRole('dialog').waitFor();
  },
  policy: async (page) => {
    await open(page, '/policy');
    await page.locator('.cm-content').waitFor();
  },
  explain: async (page) => {
    await open(page, '/policy?tab=explain');
    await page.locator('form button[type=submit]').click();
    await page.locator('ol li').first().waitFor();
  },
  history: (page) => open(page, '/policy?tab=history'),
  grants: (page) => open(page, '/grants'),
  audit: async (page) => {
    await open(page, '/audit');
    await page.locator('main button').first().click();
    await page.locator('li summary').nth(2).click();
  },
  insights: (page) => open(page, '/insights?window=3600'),
  me: (page) => open(page, '/settings'),
  keys: (page) => open(page, '/settings?tab=keys'),
  people: (page) => open(page, '/settings?tab=people'),
  person: async (page) => {
    await open(page, '/settings?tab=people');
    await page.locator('main li button').first().click();
    await page.getByRole('dialog').waitFor();
  },
  secrets: (page) => open(page, '/settings?tab=secrets'),
  webhooks: async (page) => {
    await open(page, `/settings?tab=webhooks&webhook=${ids.webhook}`);
    await page.locator('section details summary').first().click();
  },
  webhook: async (page) => {
    await open(page, '/settings?tab=webhooks');
    await page.locator('main button:has(svg)').first().click();
    await page.getByRole('dialog').waitFor();
  },
  menu: async (page) => {
    await open(page, '/insights');
    await page.locator('button[aria-haspopup=menu]:visible').first().click();
    await page.getByRole('menu').waitFor();
  },
  keyboard: async (page) => {
    await open(page, '/inbox');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
  },
  nowhere: (page) => open(page, '/no/such/page'),
};

async function open(page: Page, path: string): Promise<void> {
  await page.goto(server.page + path);
  await page.locator('h1:visible, h2:visible').first().waitFor();
}

/** Waits until the page has no placeholders and the font is loaded. */
async function drawn(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('[data-row]') === null);
  await page.waitForLoadState('load');
  await page.evaluate(() => document.fonts.ready);
}

for (const { look, ...options } of LOOKS) {
  test(look, async () => {
    const folder = `${OUT}/${look}`;
    mkdirSync(folder, { recursive: true });
    const { page, context } = await someone(browser, server, { ...options, reducedMotion: 'reduce' });
    for (const [name, shot] of Object.entries(SHOTS)) {
      await page.unrouteAll();
      await shot(page);
      await drawn(page);
      await page.screenshot({ path: `${folder}/${name}.png` });
    }
    await context.clearCookies();
    await page.goto(`${server.page}/sign-in`);
    await page.locator('form').waitFor();
    await drawn(page);
    await page.screenshot({ path: `${folder}/sign-in.png` });
    await context.close();
  });
}

/** Screenshots of the README, in a small size. */
test('readme', async () => {
  mkdirSync(`${OUT}/readme`, { recursive: true });
  const pictures = [
    ['question', 'file', { viewport: { width: 1080, height: 680 }, colorScheme: 'light' }],
    ['phone', 'command', { viewport: { width: 360, height: 680 }, colorScheme: 'dark' }],
  ] as const;
  for (const [name, shot, options] of pictures) {
    const { page, context } = await someone(browser, server, { ...options, reducedMotion: 'reduce' });
    await SHOTS[shot]?.(page);
    await drawn(page);
    await page.screenshot({ path: `${OUT}/readme/${name}.png` });
    await context.close();
  }
});
