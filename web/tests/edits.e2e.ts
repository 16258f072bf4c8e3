import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

const w = world();

const POLICY = `
version = 1
default = "ask"

[[tool]]
name = "release_thing"
schema = { type = "object", required = ["channel"], properties = { channel = { type = "string", title = "Channel", enum = ["stable", "beta"] }, count = { type = "integer", title = "Count", maximum = 5 }, note = { type = "string", title = "Note" } } }
`;

test('an edit has the fields of the tool and shows refusals at their fields', async () => {
  const alice = { Authorization: `Bearer ${w.server.keys.get('alice')}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ text: POLICY });
  expect((await fetch(`${w.server.address}/v1/policy`, { method: 'PUT', headers: alice, body })).status).toBe(200);
  const agent = await Agent.open(w.server);
  const call = await agent.propose('c1', 'release_thing', { channel: 'beta', count: 3, extra: 'kept' });
  const page = await w.at(`/inbox/${call.interaction}?move=edit`);
  await page.getByRole('radio', { name: 'stable' }).check();
  await page.getByRole('textbox', { name: 'Note' }).fill('for Ada');
  expect(await page.getByRole('textbox', { name: 'extra' }).inputValue()).toBe('kept');
  await page.getByRole('spinbutton', { name: 'Count' }).fill('6');
  const send = page.getByRole('article').getByRole('button', { name: 'Edit and approve', exact: true });
  await send.click();
  await page.locator('[data-field$="_count"]').getByRole('alert').waitFor();
  await page.getByRole('spinbutton', { name: 'Count' }).fill('5');
  await send.click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You approved this with changes' }).waitFor();
  expect((await agent.action('c1')).arguments).toEqual({ channel: 'stable', count: 5, extra: 'kept', note: 'for Ada' });
});

test('an edit with unfinished JSON is not sent', async () => {
  const agent = await Agent.open(w.server);
  const call = await agent.propose('c1', 'sort_things', { name: 'a', list: [{ a: 1 }] });
  const page = await w.at(`/inbox/${call.interaction}?move=edit`);
  await page.getByRole('textbox', { name: 'name' }).fill('b');
  const list = page.getByRole('textbox', { name: 'list JSON' });
  await list.fill('[{"a": 1}, {"b": 2}');
  const send = page.getByRole('article').getByRole('button', { name: 'Edit and approve', exact: true });
  await send.click();
  await expect.poll(() => list.evaluate((field) => field === document.activeElement)).toBe(true);
  expect((await agent.action('c1')).state).toBe('waiting');
  await list.fill('[{"a": 1}, {"b": 2}]');
  await send.click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You approved this with changes' }).waitFor();
  expect((await agent.action('c1')).arguments).toEqual({ name: 'b', list: [{ a: 1 }, { b: 2 }] });
});

test('the asker is named, and a saved secret belongs to it', async () => {
  const own = await Agent.open(w.server, 'Billing', { agent: 'billing-bot' });
  const asked = await own.ask({ kind: 'secret', title: 'A token, please', secrets: [{ name: 'TOKEN' }] });
  const page = await w.at(`/inbox/${asked.id}`);
  const article = page.getByRole('article');
  await article.getByText('release-bot, in a session of billing-bot').first().waitFor();
  await article.getByRole('checkbox', { name: 'Save for later sessions of release-bot' }).waitFor();
  const call = await own.propose('c1', 'execute_command', { command: 'ls' });
  await page.goto(`${w.server.page}/inbox/${call.interaction}`);
  await article.getByRole('checkbox', { name: /Also allow this from now on/u }).check();
  await article.getByText(/^release-bot may then run execute_command/u).waitFor();
});
