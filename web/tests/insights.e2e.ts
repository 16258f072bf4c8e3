import { expect, test } from 'vitest';
import type { Interaction, StatsDetails } from '@/api/types';
import { Agent } from './support/agent';
import { world } from './support/world';

const w = world();

async function answer(user: string, interaction: string, body: unknown): Promise<void> {
  const response = await fetch(`${w.server.address}/v1/interactions/${interaction}/answer`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${w.server.keys.get(user)}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
}

/** Questions that nobody answers in time. */
async function expired(agent: Agent, count: number): Promise<void> {
  const asked = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      agent.ask({ kind: 'confirmation', title: `Nobody ${n}`, deadline_seconds: 1 }),
    ),
  );
  await Promise.all(asked.map(async ({ id }) => expect((await agent.decided(id)).status).toBe('expired')));
}

test('insights show median and p95, persons, rules, and the marks at 5 and 20 per cent', async () => {
  const agent = await Agent.open(w.server);
  let rule = '';
  for (let n = 0; n < 9; n += 1) {
    const { interaction = '' } = await agent.propose(`c${n}`, 'execute_command', { command: `make ${n}` });
    const asked = await agent.call<Interaction>('GET', `/v1/interactions/${interaction}`);
    rule = asked.asked_by_rule?.rule ?? '';
    await answer(n < 6 ? 'alice' : 'bob', interaction ?? '', { option: n % 3 === 0 ? 'reject' : 'approve' });
  }
  await expired(agent, 1);
  const page = await w.at('/insights?window=3600');
  const share = page.getByText('10%', { exact: true });
  await share.waitFor();
  const meter = page.getByRole('img', { name: 'Marks at 5% and 20%' });
  expect(await meter.locator('.fill-edge').count()).toBe(2);
  expect(await meter.locator('.fill-warn').count()).toBe(1);
  await page.getByText('20%', { exact: true }).waitFor();
  const box = page.getByText('Median response').first().locator('xpath=..');
  expect(await box.innerText()).toMatch(/\d.*\np95: .*\d/su);

  const people = page.getByRole('table', { name: 'By person' });
  const row = async (name: string) =>
    (await people.getByRole('row').filter({ hasText: name }).getByRole('cell').allInnerTexts()).slice(0, 2);
  expect([await row('alice'), await row('bob')]).toEqual([
    ['6', '33%'],
    ['3', '33%'],
  ]);
  expect(rule).not.toBe('');
  const rules = page.getByRole('table', { name: 'By rule' });
  expect(await rules.getByRole('row').filter({ hasText: rule }).getByRole('cell').first().innerText()).toBe('9');

  await expired(agent, 3);
  await page.reload();
  await page.getByText('30.8%', { exact: true }).waitFor();
  expect(await meter.locator('.fill-danger').count()).toBe(1);
});

test('insights show growing ages of open questions and count cancelled questions', async () => {
  const agent = await Agent.open(w.server);
  await agent.ask({ kind: 'review', title: 'Left lying', details: 'A draft.' });
  const dropped = await agent.ask({ kind: 'review', title: 'Dropped', details: 'Another.' });
  await agent.post(`/v1/interactions/${dropped.id}/cancel`, { reason: 'Not needed.' });
  const page = await w.at('/inbox');
  let [reads, grown] = [0, false];
  await page.route('**/v1/stats/details*', async (route) => {
    const reply = await route.fetch();
    const details = (await reply.json()) as StatsDetails;
    const ages = details.ages.map((age, at) => ({ ...age, open: at === (grown ? 1 : 0) ? 1 : 0 }));
    const rules = [...details.rules, { name: '', closed: { answered: 4 }, effects: {} }];
    await route.fulfill({ response: reply, json: { ...details, ages, rules } });
    reads += 1;
  });
  await page.clock.install();
  await page.goto(`${w.server.page}/insights?window=3600`);
  const ages = page.getByRole('region', { name: 'Open by age' }).getByRole('listitem');
  await ages.first().waitFor();
  expect(await ages.allInnerTexts()).toEqual([
    expect.stringMatching(/^under 1 min\s+1$/u),
    expect.stringMatching(/^1–10 mins\s+0$/u),
    expect.stringMatching(/^10–60 mins\s+0$/u),
    expect.stringMatching(/^1–24 hrs\s+0$/u),
    expect.stringMatching(/^over 1 day\s+0$/u),
  ]);
  const kinds = page.getByRole('table', { name: 'By kind' });
  const heads = await kinds.getByRole('columnheader').allInnerTexts();
  const review = kinds.getByRole('row').filter({ hasText: 'Review' }).getByRole('cell');
  expect((await review.allInnerTexts())[heads.indexOf('Cancelled') - 1]).toBe('1');
  const rules = page.getByRole('table', { name: 'By rule' });
  await rules.getByRole('rowheader', { name: 'no rule matched (default: ask)' }).waitFor();
  await page.getByRole('img', { name: 'Live' }).first().waitFor();
  await page.clock.runFor(20_000);
  await expect.poll(() => reads).toBeGreaterThan(1);
  grown = true;
  await page.clock.runFor(20_000);
  await ages.filter({ hasText: /^1–10 mins\s*1$/u }).waitFor();
});

test('the address of the insights in 0.1 leads to them', async () => {
  const page = await w.at('/figures?window=3600');
  await page.waitForURL('**/insights?window=3600');
});
