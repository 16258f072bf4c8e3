import { expect, test } from 'vitest';
import type { Interaction } from '@/api/types';
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

test('half and 95 per cent, by person, by rule, and the marks at 5 and 20 per cent', async () => {
  const agent = await Agent.open(w.server);
  let rule = '';
  for (let n = 0; n < 9; n += 1) {
    const { interaction = '' } = await agent.propose(`c${n}`, 'execute_command', { command: `make ${n}` });
    const asked = await agent.call<Interaction>('GET', `/v1/interactions/${interaction}`);
    rule = asked.asked_by_rule?.rule ?? '';
    await answer(n < 6 ? 'alice' : 'bob', interaction ?? '', { option: n % 3 === 0 ? 'reject' : 'approve' });
  }
  await expired(agent, 1);
  const page = await w.at('/figures?window=3600');
  const share = page.getByText('10%', { exact: true });
  await share.waitFor();
  const meter = page.getByRole('img', { name: 'Marks at 5 and 20 per cent' });
  expect(await meter.locator('.fill-edge').count()).toBe(2);
  expect(await meter.locator('.fill-warn').count()).toBe(1);
  await page.getByText('20 %', { exact: true }).waitFor();
  const box = page.getByText('Half answered within').locator('xpath=..');
  expect(await box.innerText()).toMatch(/\d.*\n95 % within .*\d/su);

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
