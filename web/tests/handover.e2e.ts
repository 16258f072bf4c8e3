import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

const w = world();

async function instead(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

test('abstaining is visible to everybody, and a later answer undoes it', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Whose turn is it?' });
  const page = await w.at(`/inbox/${asked.id}`);
  await instead(page, 'Skip for me…');
  await page.getByRole('textbox', { name: /Reason/u }).fill('On leave');
  await page.getByRole('dialog').getByRole('button', { name: 'Skip for me' }).click();
  await page.getByText('You said that you will not answer.').waitFor();
  const bob = await w.at(`/inbox/${asked.id}`, { user: 'bob' });
  await bob.getByText('alice: On leave').waitFor();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You answered: Confirm' }).waitFor();
});

test('a handed-over question names its channel and ends when it is answered there', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'For the other channel?' });
  const page = await w.at(`/inbox/${asked.id}`);
  await instead(page, 'Hand over…');
  await page.getByRole('textbox', { name: /Note for the people/u }).fill('You know this better');
  await page.getByRole('textbox', { name: /Channel/u }).fill('night-shift');
  await page.getByRole('dialog').getByRole('button', { name: 'Hand over' }).click();
  await page.getByText('alice handed this over. It is answered in another channel.').waitFor();
  expect(await page.getByRole('button', { name: 'Confirm' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Open it there' }).click();
  await page.getByText('You know this better').waitFor();
  await page.getByRole('link', { name: 'original question' }).waitFor();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You answered: Confirm' }).waitFor();
  expect((await agent.decided(asked.id)).resolution?.answer?.options).toEqual(['confirm']);
});
