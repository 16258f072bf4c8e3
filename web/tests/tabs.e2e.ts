import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

const w = world();

async function tabs(count: number): Promise<Page[]> {
  const first = await w.at('/inbox');
  const pages = [first];
  while (pages.length < count) {
    const page = await first.context().newPage();
    await page.goto(`${w.server.page}/inbox`);
    pages.push(page);
  }
  return pages;
}

test('ten tabs receive events through one connection', async () => {
  const pages = await tabs(10);
  for (const page of pages) await page.getByRole('img', { name: 'Live' }).first().waitFor();
  const agent = await Agent.open(w.server);
  await agent.ask({ kind: 'confirmation', title: 'Seen in every tab' });
  for (const page of pages) await page.getByRole('link', { name: 'Seen in every tab' }).waitFor();
});

test('another tab takes over when the reading tab is closed, and misses nothing', async () => {
  const streams: Page[] = [];
  const first = await w.at('/inbox');
  // Wait for the tab's own stream, so that it is not counted as the stream of the reload.
  await first.getByRole('img', { name: 'Live' }).first().waitFor();
  first.context().on('request', (request) => {
    if (request.url().endsWith('/v1/events/stream')) streams.push(request.frame().page());
  });
  await first.reload();
  await first.getByRole('img', { name: 'Live' }).first().waitFor();
  const others = [await first.context().newPage(), await first.context().newPage()];
  for (const page of others) {
    await page.goto(`${w.server.page}/inbox`);
    await page.getByRole('img', { name: 'Live' }).first().waitFor();
  }
  expect(streams).toEqual([first]);
  await first.close();
  const agent = await Agent.open(w.server);
  await agent.ask({ kind: 'confirmation', title: 'After the reader left' });
  for (const page of others) await page.getByRole('link', { name: 'After the reader left' }).waitFor();
  expect(streams.filter((page) => others.includes(page))).toHaveLength(1);
});

test('several tabs show a server crash and recover', async () => {
  const pages = await tabs(3);
  for (const page of pages) await page.getByRole('img', { name: 'Live' }).first().waitFor();
  await w.server.kill();
  for (const page of pages) await page.getByText(/Connection lost/u).waitFor();
  await w.server.run();
  for (const page of pages) await page.getByText(/Connection lost/u).waitFor({ state: 'detached' });
});

test('a frozen reading tab is replaced and does not read again when it wakes', async () => {
  const streams: Page[] = [];
  const first = await w.at('/inbox');
  await first.getByRole('img', { name: 'Live' }).first().waitFor();
  const context = first.context();
  context.on('request', (request) => {
    if (request.url().endsWith('/v1/events/stream')) streams.push(request.frame().page());
  });
  await first.reload();
  await first.getByRole('img', { name: 'Live' }).first().waitFor();
  const second = await context.newPage();
  await second.addInitScript(() => {
    const now = Date.now;
    Date.now = () => now() + Number(document.documentElement.dataset.later ?? 0);
  });
  await second.goto(`${w.server.page}/inbox`);
  await second.getByRole('img', { name: 'Live' }).first().waitFor();
  expect(streams).toEqual([first]);
  // The frozen tab runs no code but keeps its lock and connection.
  const sleep = await context.newCDPSession(first);
  const asleep = new Promise((resolve) => sleep.once('Debugger.paused', resolve));
  await sleep.send('Debugger.enable');
  await sleep.send('Debugger.pause');
  await asleep;
  const agent = await Agent.open(w.server);
  await agent.ask({ kind: 'confirmation', title: 'While the reader sleeps' });
  // Another tab takes over after one minute of silence.
  await second.evaluate(() => {
    document.documentElement.dataset.later = '70000';
  });
  await second.getByRole('link', { name: 'While the reader sleeps' }).waitFor();
  expect(streams).toEqual([first, second]);
  await sleep.send('Debugger.disable');
  await first.getByRole('link', { name: 'While the reader sleeps' }).waitFor();
  await agent.ask({ kind: 'confirmation', title: 'After it woke' });
  for (const page of [first, second]) await page.getByRole('link', { name: 'After it woke' }).waitFor();
  expect(streams).toEqual([first, second]);
});

test('without browser locks a visible tab reads for itself and misses nothing', async () => {
  const { context } = await someoneWithout(['locks']);
  const [first, second] = [await context.newPage(), await context.newPage()];
  for (const page of [first, second]) {
    await page.goto(`${w.server.page}/inbox`);
    await page.getByRole('img', { name: 'Live' }).first().waitFor();
  }
  const agent = await Agent.open(w.server);
  await agent.ask({ kind: 'confirmation', title: 'Without a lock' });
  for (const page of [first, second]) await page.getByRole('link', { name: 'Without a lock' }).waitFor();
  const ended = second.waitForEvent('requestfailed', (request) => request.url().endsWith('/v1/events/stream'));
  await looked(second, 'hidden');
  await ended;
  await agent.ask({ kind: 'confirmation', title: 'Nobody looks' });
  await first.getByRole('link', { name: 'Nobody looks' }).waitFor();
  expect(await second.getByRole('link', { name: 'Nobody looks' }).count()).toBe(0);
  await looked(second, 'visible');
  await second.getByRole('link', { name: 'Nobody looks' }).waitFor();
});

/** A browser without one property of `navigator`, as over plain HTTP. */
async function someoneWithout(names: string[]) {
  const page = await w.at('/inbox');
  const context = page.context();
  await context.addInitScript((gone) => {
    for (const name of gone) delete (Navigator.prototype as unknown as Record<string, unknown>)[name];
  }, names);
  return { context };
}

/** Simulates a visibility change of the tab. */
function looked(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  return page.evaluate((now) => {
    Object.defineProperty(document, 'visibilityState', { value: now, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
}
