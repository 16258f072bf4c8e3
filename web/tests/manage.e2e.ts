import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Grant, Key } from '@/api/types';
import { Agent } from './support/agent';
import { rewrite } from './support/browser';
import { world } from './support/world';

const w = world();

const POLICY = `version = 1
default = "ask"

[[rule]]
name = "never-force"
tools = ["execute_command"]
when = 'shell.commands.exists(c, c.name == "git" && c.args.exists(a, a == "--force"))'
verdict = "deny"
reason = "History is not rewritten here."
`;

test('a policy is checked while typing, reviewed before saving and applied at once', async () => {
  const agent = await Agent.open(w.server);
  expect((await agent.propose('c1', 'execute_command', { command: 'git push --force' })).state).toBe('waiting');
  const page = await w.at('/policy');
  const editor = page.getByRole('textbox', { name: 'Policy in TOML' });
  await rewrite(editor, POLICY.replace('verdict', 'verdikt'));
  await page
    .getByText(/did you mean `verdict`/u)
    .first()
    .waitFor();
  expect(await page.getByRole('button', { name: 'Review and activate…' }).isDisabled()).toBe(true);
  await rewrite(editor, POLICY);
  await page
    .getByText(/did you mean `verdict`/u)
    .first()
    .waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Explain a call' }).click();
  await page.getByText('Uses your unsaved draft.').waitFor();
  await page.getByRole('textbox', { name: 'Arguments as JSON' }).fill('{"command": "git push --force"}');
  await page.getByRole('button', { name: 'Explain', exact: true }).click();
  await page.getByText('History is not rewritten here.').waitFor();
  await page.getByRole('button', { name: 'Text' }).click();
  await page.getByRole('button', { name: 'Review and activate…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('.cm-changedLine', { hasText: 'never-force' }).waitFor();
  await dialog.getByRole('textbox', { name: /Reason/u }).fill('After the incident');
  await dialog.getByRole('button', { name: 'Activate' }).click();
  await page.getByText('project policy').waitFor();
  expect(await agent.propose('c2', 'execute_command', { command: 'git push --force' })).toMatchObject({
    state: 'denied',
    feedback: expect.stringContaining('History is not rewritten here.'),
  });
  await page.getByRole('button', { name: 'History' }).click();
  await page.getByRole('button', { name: 'Changes' }).first().click();
  await page.locator('.cm-changedLine', { hasText: 'never-force' }).first().waitFor();
});

test('a policy that another person changed meanwhile is not overwritten', async () => {
  const page = await w.at('/policy');
  await rewrite(page.getByRole('textbox', { name: 'Policy in TOML' }), `${POLICY}# mine\n`);
  await page.getByRole('button', { name: 'Review and activate…' }).click();
  const headers = { Authorization: `Bearer ${w.server.keys.get('alice')}`, 'Content-Type': 'application/json' };
  await fetch(`${w.server.address}/v1/policy`, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ text: `${POLICY}# theirs\n` }),
  });
  await page.getByRole('button', { name: 'Activate' }).click();
  await page.getByText(/Somebody changed the policy in the meantime/u).waitFor();
  const now = (await (await fetch(`${w.server.address}/v1/policy`, { headers })).json()) as { text: string };
  expect(now.text).toContain('# theirs');
});

test('a draft of a policy is compared with recent actions and decisions', async () => {
  const agent = await Agent.open(w.server);
  const call = await agent.propose('held', 'delete_file', { path: '/srv/old' });
  await fetch(`${w.server.address}/v1/interactions/${call.interaction}/answer`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${w.server.keys.get('bob')}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ option: 'reject' }),
  });
  const page = await w.at('/policy');
  const editor = page.getByRole('textbox', { name: 'Policy in TOML' });
  await rewrite(editor, `${POLICY}\n[[rule]]\nname = "free"\ntools = ["delete_file"]\nverdict = "allow"\n`);
  await page.getByRole('button', { name: 'Review and activate…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Test on recent actions' }).click();
  await dialog.getByText(/Tested on/u).waitFor();
  const against = dialog.getByText('Contradicts 1 decision by people').locator('xpath=..');
  expect(await against.getByRole('listitem').innerText()).toMatch(/delete_file.*ask.*allow.*bob/su);
});

test('approvals are paused with a reason that everybody sees, and resumed', async () => {
  const agent = await Agent.open(w.server);
  const page = await w.at('/policy');
  const flip = async (name: string) => {
    await page.getByRole('button', { name }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('Drill');
    await dialog.getByRole('button', { name }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await flip('Pause approvals (allow everything)');
  await page.getByText(/Approvals are paused/u).waitFor();
  expect((await agent.propose('c1', 'delete_file', { path: 'a' })).state).toBe('allowed');
  await flip('Resume approvals');
  expect((await agent.propose('c2', 'delete_file', { path: 'b' })).state).toBe('waiting');
});

test('a grant is listed with its limits and revoked', async () => {
  const agent = await Agent.open(w.server);
  const call = await agent.propose('c1', 'delete_file', { path: '/tmp/a' });
  const headers = { Authorization: `Bearer ${w.server.keys.get('bob')}`, 'Content-Type': 'application/json' };
  const remember = { scope: 'project', arguments: { path: '/tmp/*' }, seconds: 3600, uses: 20 };
  await fetch(`${w.server.address}/v1/interactions/${call.interaction}/answer`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ option: 'approve', remember }),
  });
  const page = await w.at('/grants');
  const row = page.getByRole('listitem').filter({ hasText: 'delete_file' });
  await row.getByText('/tmp/*').waitFor();
  await row.getByText(/used 0 of 20 times/u).waitFor();
  expect((await agent.propose('c2', 'delete_file', { path: '/tmp/b' })).state).toBe('allowed');
  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await row.waitFor({ state: 'detached' });
  expect((await agent.propose('c3', 'delete_file', { path: '/tmp/c' })).state).toBe('waiting');
  await page.getByRole('checkbox', { name: 'Show expired' }).check();
  await row.getByText('revoked').waitFor();
});

test('the audit trail is filtered, unfolded and exported', async () => {
  const page = await w.at('/audit');
  await page.getByText(/Hash-chained and signed/u).waitFor();
  const numbers = page.getByRole('listitem').locator('summary > span:first-child');
  await numbers.nth(1).waitFor();
  const [first, second] = (await numbers.allInnerTexts()).map(Number);
  expect(first).toBeGreaterThan(second ?? 0);
  await page.getByRole('combobox', { name: 'Type' }).fill('policy.changed');
  await page.keyboard.press('Enter');
  await page.waitForURL(/type=policy\.changed/u);
  await page.getByText('grant.given', { exact: true }).waitFor({ state: 'detached' });
  const entry = page.getByRole('listitem').filter({ hasText: 'policy.changed' }).first();
  await entry.locator('summary').click();
  await entry.getByText('Hash').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('holdpoint-audit.jsonl');
  const file = await download.path();
  expect(readFileSync(file, 'utf8')).toContain('"policy.changed"');
  expect(w.server.verify(file)).toContain('verified: entries 1 to ');
});

test('the export names its period, types are suggested, and the check explains that it needs https', async () => {
  const page = await w.at('/audit?type=policy.changed&period=week');
  await page.getByRole('link', { name: 'Export this period' }).waitFor();
  await page.getByRole('listitem').filter({ hasText: 'policy.changed' }).first().waitFor();
  const types = page.locator('datalist option[value="policy.changed"]');
  await types.waitFor({ state: 'attached' });
  await page.getByRole('combobox', { name: 'Period' }).selectOption('all');
  await page.getByRole('link', { name: 'Export everything' }).waitFor();
  await page.addInitScript(() => Object.defineProperty(window, 'isSecureContext', { value: false }));
  await page.reload();
  await page.getByText('needs https').waitFor();
  expect(await page.getByRole('button', { name: 'Check now' }).count()).toBe(0);
  const other = await w.at('/audit', { user: 'bob' });
  await other.getByRole('alert').waitFor();
  expect(await other.getByRole('link', { name: /Export/u }).count()).toBe(0);
});

test('the browser verifies the audit trail and names a changed entry', async () => {
  const page = await w.at('/audit');
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByText(/Intact: \d+ entries/u).waitFor();
  await page.route('**/v1/audit/export', async (route) => {
    const reply = await route.fetch();
    const lines = (await reply.text()).split('\n');
    lines[3] = (lines[3] ?? '').replace('"type":"', '"type":"x');
    await route.fulfill({ response: reply, body: lines.join('\n') });
  });
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByRole('alert').filter({ hasText: 'Entry 3 does not match' }).waitFor();
});

test('insights show open questions and how questions ended', async () => {
  const page = await w.at('/insights?window=3600');
  await page.getByText('Open now').waitFor();
  const row = page.getByRole('listitem').filter({ hasText: 'Approval' }).first();
  expect(Number((await row.innerText()).match(/\d+/u)?.[0])).toBeGreaterThan(0);
  const table = page.getByRole('table', { name: 'How questions ended' });
  await table.waitFor({ state: 'attached' });
  const answered = await table.locator('tbody tr td:nth-of-type(1)').allInnerTexts();
  expect(answered.map(Number).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
});

test('a key is made, shown once, works, and is revoked', async () => {
  const page = await w.at('/settings?tab=keys');
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('night-bot');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const key = await dialog.locator('code').innerText();
  expect(key).toMatch(/^hp_/u);
  // The key is never shown again, so a click outside must not close the dialog.
  await page.mouse.click(5, 400);
  expect(await dialog.locator('code').innerText()).toBe(key);
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect(await page.content()).not.toContain(key);
  const use = () => fetch(`${w.server.address}/v1/sessions`, { headers: { Authorization: `Bearer ${key}` } });
  expect((await use()).status).toBe(200);
  await page.getByRole('button', { name: 'Revoke the key of night-bot' }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('revoked', { exact: true }).waitFor();
  expect((await use()).status).toBe(401);
});

test('a key in the name of a person requires a confirmation', async () => {
  const page = await w.at('/settings?tab=keys');
  const headers = { Authorization: `Bearer ${w.server.keys.get('alice')}` };
  const made = async () => {
    const { keys } = (await (await fetch(`${w.server.address}/v1/keys`, { headers })).json()) as { keys: Key[] };
    return keys.filter((key) => key.user === 'Bob').map((key) => key.role);
  };
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog');
  const name = dialog.getByRole('textbox', { name: 'Name' });
  await name.fill('Bob');
  await dialog.getByRole('combobox', { name: 'Role' }).selectOption('viewer');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const join = dialog.getByRole('alert').getByRole('button', { name: 'Create it as a key of Bob' });
  await join.waitFor();
  expect(await made()).toEqual([]);
  // The offer applies only to the name that was sent.
  await name.fill('Bobby');
  await join.waitFor({ state: 'detached' });
  await name.fill('Bob');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await join.click();
  expect(await dialog.locator('code').innerText()).toMatch(/^hp_/u);
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect(await made()).toEqual(['viewer']);
});

test('a role without access gets no links to a page and a message on it', async () => {
  const page = await w.at('/audit', { user: 'bob' });
  await page.getByText('Your role does not allow this.').waitFor();
  expect(await page.getByRole('link', { name: 'Audit' }).count()).toBe(0);
  await page.goto(`${w.server.page}/policy`);
  await page.getByRole('textbox', { name: 'Policy in TOML' }).waitFor();
  expect(await page.getByRole('button', { name: /Review|Pause|Resume/u }).count()).toBe(0);
});

test('a person is added, signs in by a link and is disabled', async () => {
  const page = await w.at('/settings?tab=people');
  await page.getByRole('button', { name: 'New person' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'User name' }).fill('dana');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const link = new URL(await dialog.locator('code').innerText());
  await page.mouse.click(5, 400);
  expect(await dialog.locator('code').innerText()).toBe(link.href);
  await dialog.getByRole('button', { name: 'Done' }).click();
  const dana = await w.at(link.pathname + link.hash, { user: 'nobody' });
  await dana.getByRole('button', { name: 'Sign in' }).click();
  await dana.getByRole('button', { name: 'Account of dana' }).first().waitFor();
  await page.getByRole('button', { name: 'Disable dana' }).click();
  await dialog.getByRole('button', { name: 'Disable' }).click();
  await page.getByText('disabled', { exact: true }).waitFor();
  await dana.reload();
  await dana.getByRole('heading', { name: 'Sign in to Holdpoint' }).waitFor();
});

test('a disabled person is enabled again, and the last admin keeps the role', async () => {
  w.server.cli('users', 'create', 'erin', '--role', 'viewer', '--group', 'night');
  const page = await w.at('/settings?tab=people');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Disable erin' }).click();
  await dialog.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('button', { name: 'Enable erin' }).click();
  await dialog.getByRole('combobox', { name: 'Role' }).selectOption('operator');
  await dialog.getByRole('button', { name: 'Enable' }).click();
  const row = page.getByRole('listitem').filter({ hasText: 'erin' });
  await row.getByText('operator').waitFor();
  await row.getByText('night').waitFor();
  const erin = await w.at(w.server.link('erin'), { user: 'nobody' });
  await erin.getByRole('button', { name: 'Sign in' }).click();
  await erin.getByRole('button', { name: 'Account of erin' }).first().waitFor();
  await page.getByRole('button', { name: 'Edit erin' }).click();
  await dialog.getByRole('combobox', { name: 'Role' }).selectOption('viewer');
  await dialog.getByRole('textbox', { name: 'Groups' }).fill('day, night');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await row.getByText('viewer').waitFor();
  await row.getByText('day').waitFor();
  await erin.reload();
  await erin.getByRole('heading', { name: 'Sign in to Holdpoint' }).waitFor();
  await page.getByRole('button', { name: 'Edit alice' }).click();
  await dialog.getByRole('combobox', { name: 'Role' }).selectOption('operator');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Make somebody else an administrator first', { exact: false }).waitFor();
});

test('a person whose role was reduced is told so at the first refusal', async () => {
  w.server.cli('users', 'create', 'finn', '--role', 'admin');
  const finn = await w.at(w.server.link('finn'), { user: 'nobody' });
  await finn.getByRole('button', { name: 'Sign in' }).click();
  await finn.getByRole('link', { name: 'Audit' }).waitFor();
  await finn.goto(`${w.server.page}/policy`);
  await finn.getByRole('button', { name: 'Pause approvals (allow everything)' }).click();
  await finn.getByRole('textbox', { name: 'Reason' }).fill('Mine');
  const headers = { Authorization: `Bearer ${w.server.keys.get('alice')}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ role: 'viewer' });
  const reply = await fetch(`${w.server.address}/v1/users/finn`, { method: 'PATCH', headers, body });
  expect(reply.status).toBe(200);
  await finn.getByRole('dialog').getByRole('button', { name: 'Pause approvals (allow everything)' }).click();
  await finn.getByRole('heading', { name: 'Sign in to Holdpoint' }).waitFor();
});

test('a grant shows its scope and its current state', async () => {
  const agent = await Agent.open(w.server, 'Clean-up of May');
  const headers = { Authorization: `Bearer ${w.server.keys.get('bob')}`, 'Content-Type': 'application/json' };
  const grant = async (call: string, values: Record<string, unknown>) => {
    const { interaction } = await agent.propose(call, 'trim_log', values);
    await fetch(`${w.server.address}/v1/interactions/${interaction}/answer`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ option: 'approve', remember: { scope: 'session', arguments: 'exact', uses: 20 } }),
    });
  };
  const list = async () => {
    const reply = await fetch(`${w.server.address}/v1/grants`, { headers });
    return ((await reply.json()) as { grants: Grant[] }).grants.filter((one) => one.tool === 'trim_log');
  };
  await grant('may', { log: 'may.log', days: { keep: 3 } });
  await grant('june', { log: 'june.log' });
  const page = await w.at('/grants');
  const row = (log: string) => page.getByRole('listitem').filter({ hasText: `trim_log ${log}` });
  await row('may.log').getByText('and 1 more argument').waitFor();
  await row('may.log').getByText('All arguments').click();
  await row('may.log').getByText('keep', { exact: true }).waitFor();
  await row('june.log')
    .getByText(/used 0 of 20 times/u)
    .waitFor();
  expect((await agent.propose('again', 'trim_log', { log: 'june.log' })).state).toBe('allowed');
  await row('june.log')
    .getByText(/used 1 of 20 times/u)
    .waitFor();
  await row('june.log').getByRole('button', { name: 'Revoke' }).click();
  for (const { id } of await list()) await fetch(`${w.server.address}/v1/grants/${id}`, { method: 'DELETE', headers });
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByText('This standing approval was already revoked.').waitFor();
  await page.keyboard.press('Escape');
  await row('june.log').waitFor({ state: 'detached' });
  await row('may.log').waitFor({ state: 'detached' });
  await page.getByRole('checkbox', { name: 'Show expired' }).check();
  await row('may.log').getByRole('link', { name: 'Clean-up of May' }).click();
  await page.getByRole('heading', { level: 1, name: 'Clean-up of May' }).waitFor();
});

test('a filter of sessions without results can be cleared, and known agents are suggested', async () => {
  await Agent.open(w.server, 'To be found');
  const page = await w.at('/sessions?status=failed');
  await page.getByText('No sessions match these filters').waitFor();
  await page.getByRole('button', { name: 'Show all sessions' }).click();
  const found = page.getByRole('link', { name: 'To be found' });
  await found.waitFor();
  const agent = page.getByRole('combobox', { name: 'Agent' });
  expect(await agent.getAttribute('placeholder')).toContain('Exact agent name');
  await page.locator('datalist option[value=release-bot]').waitFor({ state: 'attached' });
  await agent.fill('release');
  await page.getByText('No sessions match these filters').waitFor();
  await page.getByRole('button', { name: 'Show all sessions' }).click();
  await found.waitFor();
  expect(await agent.inputValue()).toBe('');
  await agent.fill('release-bot');
  await page.waitForURL(/agent=release-bot/u);
  await found.waitFor();
});
