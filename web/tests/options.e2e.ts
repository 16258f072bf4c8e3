import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

// Descriptions of the options stand beside the buttons, visible and readable by screen readers.

const w = world();

const button = (page: Page, name: string) => page.getByRole('article').getByRole('button', { name, exact: true });

const DEPLOY = {
  id: 'go',
  label: 'Deploy',
  effect: 'approve',
  risk: 'No way back after the migration.',
  cost: '500 EUR',
  duration: '2 h',
  recommended: true,
  description: 'All four regions at once.',
};
const TOLD = [
  'All four regions at once.',
  'No way back after the migration.',
  '500 EUR',
  '2 h',
  'recommended by the agent',
];

test.each(['confirmation', 'review'])('risk, cost, time and description stand above the buttons (%s)', async (kind) => {
  const agent = await Agent.open(w.server, `Weighed ${kind}`);
  const options = [DEPLOY, { id: 'no', label: 'Not now', effect: 'reject' }];
  const asked = await agent.ask({ kind, title: 'Deploy?', options });
  const page = await w.at(`/inbox/${asked.id}`, { viewport: { width: 390, height: 800 } });
  const list = page.getByRole('list', { name: "Agent's notes on these answers" });
  for (const text of TOLD) await list.getByText(text, { exact: true }).waitFor();
  expect(await list.getByText('Not now').count()).toBe(0);
  expect(await button(page, 'Deploy').getAttribute('title')).toBeNull();
  await page.goto(`${w.server.page}/sessions/${agent.session}`);
  for (const text of TOLD) await list.getByText(text, { exact: true }).waitFor();
});

test('a dangerous answer is named as such to screen readers', async () => {
  const agent = await Agent.open(w.server, 'Unseen');
  const asked = await agent.ask({
    kind: 'confirmation',
    title: 'Drop it?',
    options: [
      { id: 'drop', label: 'Drop it', effect: 'approve', dangerous: true },
      { id: 'keep', label: 'Keep it', effect: 'reject' },
    ],
  });
  const page = await w.at(`/inbox/${asked.id}`);
  const about = (name: string) =>
    button(page, name).evaluate(
      (one) => document.getElementById(one.getAttribute('aria-describedby') ?? '')?.textContent,
    );
  expect(await about('Drop it')).toBe('dangerous');
  expect(await about('Keep it')).toBeUndefined();
});

test('after an answer by keyboard the focus is on the result, on its page and in its session', async () => {
  const agent = await Agent.open(w.server, 'Focus');
  const asked = await agent.ask({ kind: 'confirmation', title: 'By keys?' });
  const page = await w.at(`/inbox/${asked.id}`);
  await button(page, 'Confirm').press('Enter');
  await page.locator('[data-closed]').waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('You answered: Confirm');
  const next = await agent.ask({ kind: 'confirmation', title: 'And in place?' });
  await page.goto(`${w.server.page}/sessions/${agent.session}`);
  await button(page, 'Confirm').press('Enter');
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe(`title-${next.id}`);
});
