import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

const w = world();

async function instead(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'Instead of answering' }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

test('left to others: everybody sees it, and answering after all takes it back', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Whose turn is it?' });
  const page = await w.at(`/inbox/${asked.id}`);
  await instead(page, 'Leave it to others…');
  await page.getByRole('textbox', { name: /Why/u }).fill('On leave');
  await page.getByRole('dialog').getByRole('button', { name: 'Leave it to others' }).click();
  await page.getByText('You have left this to others.').waitFor();
  const bob = await w.at(`/inbox/${asked.id}`, { user: 'bob' });
  await bob.getByText('alice: On leave').waitFor();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'alice: Confirm' }).waitFor();
});

test('handed over: it says where it went, is answered there, and ends here as well', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'For the other channel?' });
  const page = await w.at(`/inbox/${asked.id}`);
  await instead(page, 'Hand over…');
  await page.getByRole('textbox', { name: /note for whoever/u }).fill('You know this better');
  await page.getByRole('textbox', { name: /Channel/u }).fill('night-shift');
  await page.getByRole('dialog').getByRole('button', { name: 'Hand over' }).click();
  await page.getByText('alice has handed this over: it is answered elsewhere.').waitFor();
  expect(await page.getByRole('button', { name: 'Confirm' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Go where it is answered' }).click();
  await page.getByText('You know this better').waitFor();
  await page.getByRole('link', { name: 'the first question' }).waitFor();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'alice: Confirm' }).waitFor();
  expect((await agent.decided(asked.id)).resolution?.answer?.options).toEqual(['confirm']);
});
