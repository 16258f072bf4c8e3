import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

const w = world();

const rows = '[data-question]';

test('a question appears by itself, in the list, the title and the badge, and goes when it is answered elsewhere', async () => {
  const page = await w.at('/inbox');
  await page.getByRole('heading', { name: 'Nothing is waiting for you' }).waitFor();
  await page.getByRole('img', { name: 'Live' }).first().waitFor();
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Shall we?' });
  await page.getByRole('link', { name: 'Shall we?' }).click();
  await page.waitForFunction(() => document.title.startsWith('(1) Shall we?'));
  await page.getByText('1 open question', { exact: true }).first().waitFor({ state: 'attached' });
  const bob = await w.at(`/inbox/${asked.id}`, { user: 'bob' });
  await bob.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'bob: Confirm' }).waitFor();
  await page.getByRole('heading', { name: 'Nothing is waiting for you' }).waitFor();
  expect(await page.getByRole('button', { name: 'Confirm' }).count()).toBe(0);
  await page.waitForFunction(() => !document.title.startsWith('('));
});

test('time runs out under the eyes of the reader', async () => {
  const page = await w.at('/inbox');
  await page.getByRole('img', { name: 'Live' }).first().waitFor();
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Quickly?', deadline_seconds: 15 });
  const row = page.locator(rows, { hasText: 'Quickly?' });
  await row.getByRole('timer').waitFor();
  await row.getByRole('link').click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'Nobody answered in time' }).waitFor();
  await row.waitFor({ state: 'detached' });
  expect(await page.getByRole('article').getByRole('timer').count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Confirm' }).count()).toBe(0);
  expect((await agent.decided(asked.id)).status).toBe('expired');
});

test('two browsers race: one answer is taken, the other page says who was first', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Who is first?' });
  const alice = await w.at(`/inbox/${asked.id}`);
  const bob = await w.at(`/inbox/${asked.id}`, { user: 'bob' });
  await alice.getByRole('button', { name: 'Confirm' }).waitFor();
  await bob.getByRole('button', { name: 'Cancel', exact: true }).click();
  // Both are ready to send: what decides is the server alone.
  const send = bob.locator('article').getByRole('button', { name: 'Cancel', exact: true });
  await Promise.all([alice.getByRole('button', { name: 'Confirm' }).click(), send.click()]);
  const first = (await agent.decided(asked.id)).resolution;
  const words = first?.by?.name === 'alice' ? 'alice: Confirm' : 'bob: Cancel';
  for (const page of [alice, bob])
    await page.getByRole('article').getByRole('status').filter({ hasText: words }).waitFor();
});

test('nothing is shown as decided before the server has agreed', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Slowly' });
  const page = await w.at(`/inbox/${asked.id}`);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/answer', async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.locator('button[aria-busy=true]').waitFor();
  expect(await page.getByRole('article').getByText('Open', { exact: true }).count()).toBe(1);
  expect(await page.getByRole('article').getByText('alice: Confirm').count()).toBe(0);
  release();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'alice: Confirm' }).waitFor();
});

test('a reply that is lost is asked for again, and one answer stays one answer', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Lost' });
  const page = await w.at(`/inbox/${asked.id}`);
  const keys: string[] = [];
  await page.route('**/answer', async (route) => {
    keys.push(route.request().headers()['idempotency-key'] ?? '');
    if (keys.length > 1) return route.continue();
    await route.fetch();
    return route.abort();
  });
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'alice: Confirm' }).waitFor();
  expect(new Set(keys).size).toBe(1);
});

test('the server is killed under an open page: it shows, it heals, and nothing is missed', async () => {
  const agent = await Agent.open(w.server);
  const before = await agent.ask({ kind: 'confirmation', title: 'Before the crash' });
  const page = await w.at(`/inbox/${before.id}`);
  await page.getByRole('img', { name: 'Live' }).first().waitFor();
  await w.server.kill();
  await page.getByText(/Connection lost/u).waitFor();
  await w.server.run();
  const [after] = await Promise.all([
    agent.ask({ kind: 'confirmation', title: 'After the crash' }),
    agent.ask({ kind: 'notice', title: 'Also after' }),
  ]);
  await page.getByRole('link', { name: 'After the crash' }).waitFor();
  await page.getByRole('link', { name: 'Also after' }).waitFor();
  await page.getByText(/Connection lost/u).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'alice: Confirm' }).waitFor();
  expect((await agent.decided(before.id)).status).toBe('answered');
  expect((await agent.call<{ status: string }>('GET', `/v1/interactions/${after.id}`)).status).toBe('pending');
});
