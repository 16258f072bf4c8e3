import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

const w = world();

const rows = '[data-question]';

test('a new question appears in list, title and badge, and disappears when answered elsewhere', async () => {
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

test('an open question is shown as expired when its deadline passes', async () => {
  const page = await w.at('/inbox');
  await page.getByRole('img', { name: 'Live' }).first().waitFor();
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Quickly?', deadline_seconds: 15 });
  const row = page.locator(rows, { hasText: 'Quickly?' });
  await row.getByRole('timer').waitFor();
  await row.getByRole('link').click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'Nobody answered' }).waitFor();
  await row.waitFor({ state: 'detached' });
  expect(await page.getByRole('article').getByRole('timer').count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Confirm' }).count()).toBe(0);
  expect((await agent.decided(asked.id)).status).toBe('expired');
});

/** Holds the answer requests of a page until they are released. */
async function holdAnswers(page: Page) {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const sent = page.waitForRequest('**/answer');
  await page.route('**/answer', async (route) => {
    await held;
    await route.continue();
  });
  return { sent, release };
}

test('of two concurrent answers one is accepted, and the other page names its author', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Who is first?' });
  const alice = await w.at(`/inbox/${asked.id}`);
  const bob = await w.at(`/inbox/${asked.id}`, { user: 'bob' });
  const race = await Promise.all([alice, bob].map(holdAnswers));
  const replies = Promise.all([alice, bob].map((page) => page.waitForResponse('**/answer')));
  await alice.getByRole('button', { name: 'Confirm' }).click();
  await bob.getByRole('button', { name: 'Cancel', exact: true }).click();
  await bob.getByRole('group', { name: 'Cancel' }).getByRole('button', { name: 'Cancel', exact: true }).click();
  // Both answers are in flight, so the server decides.
  await Promise.all(race.map((one) => one.sent));
  for (const one of race) one.release();
  expect((await replies).map((reply) => reply.status()).sort()).toEqual([200, 409]);
  const first = (await agent.decided(asked.id)).resolution;
  const winner = first?.by?.name;
  const answer = winner === 'alice' ? 'Confirm' : 'Cancel';
  for (const [page, name] of [
    [alice, 'alice'],
    [bob, 'bob'],
  ] as const) {
    const words = name === winner ? `You answered: ${answer}` : `Answered by ${winner}: ${answer}`;
    await page.getByRole('article').getByRole('status').filter({ hasText: words }).waitFor();
  }
});

test('a question answered elsewhere shows the result in place of its buttons', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Under the pointer?' });
  await agent.ask({ kind: 'confirmation', title: 'And this?' });
  const page = await w.at(`/inbox/${asked.id}`);
  const box = await page.getByRole('button', { name: 'Confirm' }).boundingBox();
  if (!box) throw new Error('the button is not drawn');
  const point = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(point.x, point.y);
  const bob = await w.at(`/inbox/${asked.id}`, { user: 'bob' });
  await bob.getByRole('button', { name: 'Confirm' }).click();
  await page.locator('[data-closed]', { hasText: 'bob: Confirm' }).waitFor();
  await page.getByRole('link', { name: 'Next open question' }).waitFor();
  const hit = await page.evaluate(
    ({ x, y }) => document.elementFromPoint(x, y)?.closest('a, button')?.textContent,
    point,
  );
  expect(hit).toBeUndefined();
});

test('a person who is writing a reason is led to the answer of another person', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'While writing?' });
  const page = await w.at(`/inbox/${asked.id}`);
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('textbox', { name: /Reason/u }).fill('Not before noon');
  const bob = await w.at(`/inbox/${asked.id}`, { user: 'bob' });
  await bob.getByRole('button', { name: 'Confirm' }).click();
  await page.locator('[data-closed] p:focus', { hasText: 'bob: Confirm' }).waitFor();
});

test('an answer is not shown as decided before the server has accepted it', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Slowly' });
  const page = await w.at(`/inbox/${asked.id}`);
  const { release } = await holdAnswers(page);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.locator('button[aria-busy=true]').waitFor();
  expect(await page.getByRole('article').getByText('Open', { exact: true }).count()).toBe(1);
  expect(await page.getByRole('article').getByText('You answered: Confirm').count()).toBe(0);
  release();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You answered: Confirm' }).waitFor();
});

test('an answer whose reply was lost is sent again and counted once', async () => {
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
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You answered: Confirm' }).waitFor();
  expect(new Set(keys).size).toBe(1);
});

test('an open page shows a server crash, recovers and misses nothing', async () => {
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
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You answered: Confirm' }).waitFor();
  expect((await agent.decided(before.id)).status).toBe('answered');
  expect((await agent.call<{ status: string }>('GET', `/v1/interactions/${after.id}`)).status).toBe('pending');
});
