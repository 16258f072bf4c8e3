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

test('ten tabs are all alive through one connection', async () => {
  const pages = await tabs(10);
  for (const page of pages) await page.getByRole('img', { name: 'Live' }).first().waitFor();
  const agent = await Agent.open(w.server);
  await agent.ask({ kind: 'confirmation', title: 'Seen in every tab' });
  for (const page of pages) await page.getByRole('link', { name: 'Seen in every tab' }).waitFor();
});

test('when the tab that reads is closed, the next one reads on, and nothing is missed', async () => {
  const streams: Page[] = [];
  const first = await w.at('/inbox');
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

test('the server dies under several tabs: each says so, and all come back', async () => {
  const pages = await tabs(3);
  for (const page of pages) await page.getByRole('img', { name: 'Live' }).first().waitFor();
  await w.server.kill();
  for (const page of pages) await page.getByText(/Connection lost/u).waitFor();
  await w.server.run();
  for (const page of pages) await page.getByText(/Connection lost/u).waitFor({ state: 'detached' });
});
