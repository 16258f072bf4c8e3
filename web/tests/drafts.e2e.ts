import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

// Drafts, partial decisions and limited audiences.

const w = world();

const button = (page: Page, name: string) => page.getByRole('article').getByRole('button', { name, exact: true });

async function ended(page: Page, text: string): Promise<void> {
  await page.getByRole('article').getByRole('status').filter({ hasText: text }).waitFor();
}

test('an unfinished answer is restored after navigation and after a reload', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'question', title: 'Half a thought?' });
  const page = await w.at(`/inbox/${asked.id}`);
  const answer = page.getByRole('textbox', { name: 'Answer' });
  await answer.fill('half a th');
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
  await page.goBack();
  await answer.waitFor();
  expect(await answer.inputValue()).toBe('half a th');
  let warned = '';
  page.on('dialog', (dialog) => {
    warned = dialog.type();
    void dialog.accept();
  });
  await page.reload();
  await answer.waitFor();
  expect([await answer.inputValue(), warned]).toEqual(['half a th', 'beforeunload']);
  await button(page, 'Send answer').click();
  await ended(page, 'half a th');
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('half a th');
});

test('signing out in one tab deletes the drafts in the others', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'question', title: 'Whose thought?' });
  // A separate session, so that signing out affects no other test.
  const page = await w.at(w.server.link('alice'), { user: 'nobody' });
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/inbox');
  const other = await page.context().newPage();
  await other.goto(`${w.server.page}/inbox/${asked.id}`);
  await other.getByRole('textbox', { name: 'Answer' }).fill('between us');
  await expect.poll(() => other.evaluate(() => JSON.stringify({ ...sessionStorage }))).toContain('between us');
  await page.getByRole('button', { name: 'Account of alice' }).first().click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await other.waitForURL('**/sign-in**');
  expect(await other.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('between us');
});

test('a reason written for a rejection is not sent with an approval', async () => {
  const agent = await Agent.open(w.server);
  const call = await agent.propose('c1', 'execute_command', { command: 'make' });
  const page = await w.at(`/inbox/${call.interaction}`);
  await button(page, 'Reject').click();
  await page.getByRole('textbox', { name: /Reason/u }).fill('Not on a Fri');
  await button(page, 'Back').click();
  await button(page, 'Approve').click();
  await ended(page, 'You approved this');
  expect((await agent.decided(call.interaction ?? '')).resolution?.answer?.feedback ?? null).toBeNull();
});

test('an unfinished edit is saved, and the closed panel says so', async () => {
  const agent = await Agent.open(w.server);
  const call = await agent.propose('c1', 'execute_command', { command: 'make', 'a,b': 1 });
  const page = await w.at(`/inbox/${call.interaction}`);
  await button(page, 'Edit and approve').click();
  await page.getByRole('textbox', { name: /command/u }).fill('make test');
  await button(page, 'Back').click();
  await page.getByText('Your edit is saved.').waitFor();
  await button(page, 'Edit and approve').click();
  expect(await page.getByRole('textbox', { name: /command/u }).inputValue()).toBe('make test');
});

test('unfinished secrets and passwords are not stored', async () => {
  const agent = await Agent.open(w.server);
  const schema = { type: 'object', properties: { pin: { type: 'string', format: 'password', title: 'Pin' } } };
  const form = await agent.ask({ kind: 'form', title: 'A pin', schema });
  const secret = await agent.ask({ kind: 'secret', title: 'A token', secrets: [{ name: 'TOKEN', label: 'Token' }] });
  const page = await w.at(`/inbox/${form.id}`);
  await page.getByLabel('Pin', { exact: true }).fill('s3cret-pin');
  await page.goto(`${w.server.page}/inbox/${secret.id}`);
  await page.getByLabel('Token', { exact: true }).fill('s3cret-token');
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain('s3cret');
});

test('an unfinished policy survives tabs, navigation and a reload', async () => {
  const page = await w.at('/policy');
  const editor = page.getByRole('textbox', { name: 'Policy in TOML' });
  await editor.click();
  await editor.press('Control+End');
  await page.keyboard.insertText('\n# mine');
  await page.getByText('Not active yet').waitFor();
  await page.getByRole('button', { name: 'History' }).click();
  await page.getByRole('button', { name: 'Text', exact: true }).click();
  await page.getByText('Not active yet').waitFor();
  await page.getByRole('link', { name: 'Standing approvals' }).click();
  await page.getByRole('heading', { level: 1, name: 'Standing approvals' }).waitFor();
  await page.getByRole('link', { name: 'Policy' }).click();
  await page.getByText('Not active yet').waitFor();
  await page.reload();
  await page.getByText('Not active yet').waitFor();
  await editor.press('Control+End');
  await editor.getByText('# mine').waitFor();
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.getByText('Not active yet').waitFor({ state: 'detached' });
});

test('an option that requires input has a field for it', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({
    kind: 'choice',
    title: 'Where to?',
    options: [
      { id: 'a', label: 'Here', effect: 'custom' },
      { id: 'o', label: 'Elsewhere', effect: 'custom', requires_input: true, input_prompt: 'Where exactly?' },
    ],
  });
  const page = await w.at(`/inbox/${asked.id}`);
  await page.getByRole('radio', { name: /Elsewhere/u }).check();
  await button(page, 'Send choice').click();
  const words = page.getByRole('textbox', { name: 'Where exactly?' });
  await words.waitFor();
  expect(await button(page, 'Send choice').isDisabled()).toBe(true);
  await words.fill('Ulm');
  await button(page, 'Send choice').click();
  await ended(page, 'Elsewhere');
  expect((await agent.decided(asked.id)).resolution?.answer).toMatchObject({ options: ['o'], feedback: 'Ulm' });
});

test('a dangerous choice asks twice, with the focus on the way back', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({
    kind: 'choice',
    title: 'Which database?',
    multiple: true,
    options: [
      { id: 'r', label: 'The replica', effect: 'custom' },
      { id: 'p', label: 'The primary', effect: 'custom', dangerous: true, risk: 'Orders are refused.' },
    ],
  });
  const page = await w.at(`/inbox/${asked.id}`);
  await page.getByRole('checkbox', { name: /The replica/u }).check();
  await page.getByRole('checkbox', { name: /The primary/u }).check();
  await button(page, 'Send choice').click();
  const second = page.getByRole('group', { name: 'Send choice' });
  await second.getByText('Orders are refused.').waitFor();
  expect(await second.getByRole('listitem').allInnerTexts()).toEqual(['The replica', 'The primary']);
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Back');
  expect((await agent.call<{ status: string }>('GET', `/v1/interactions/${asked.id}`)).status).toBe('pending');
  await second.getByRole('button', { name: 'Send choice' }).click();
  await ended(page, 'The replica, The primary');
});

test('a person outside the audience sees the reason and no buttons', async () => {
  const agent = await Agent.open(w.server);
  const named = await agent.ask({ kind: 'confirmation', title: 'For bob', audience: { users: ['bob'] } });
  const group = await agent.ask({ kind: 'confirmation', title: 'For the night', audience: { groups: ['night'] } });
  const anybody = await agent.ask({ kind: 'confirmation', title: 'For anybody' });
  const page = await w.at(`/inbox/${named.id}`);
  await page.getByText(/Only .* can answer\. You can read it/u).waitFor();
  expect(await button(page, 'Confirm').count()).toBe(0);
  await page.goto(`${w.server.page}/inbox/${group.id}`);
  await page.getByText(/Only .* can answer\. You can read it/u).waitFor();
  w.server.cli('users', 'create', 'vera', '--role', 'viewer', '--group', 'night');
  const vera = await w.at(w.server.link('vera'), { user: 'nobody' });
  await vera.getByRole('button', { name: 'Sign in' }).click();
  await vera.waitForURL('**/inbox');
  // Only questions that she may answer can be selected.
  await vera.getByRole('checkbox', { name: /For the night/u }).waitFor();
  expect(await vera.getByRole('checkbox', { name: /For anybody/u }).count()).toBe(0);
  await vera.goto(`${w.server.page}/inbox/${anybody.id}`);
  await vera.getByText(/Only .* can answer\. You can read it/u).waitFor();
  expect(await button(vera, 'Confirm').count()).toBe(0);
  await vera.goto(`${w.server.page}/inbox/${group.id}`);
  await button(vera, 'Confirm').click();
  await ended(vera, 'You answered: Confirm');
});

test('a viewer can select only the questions of their own session in the inbox', async () => {
  // A viewer may have started the session while in another role.
  const headers = {
    Authorization: `Bearer ${w.server.key('vern', 'operator')}`,
    'Content-Type': 'application/json',
  };
  const body = JSON.stringify({ agent: 'release-bot', title: 'Of Vern' });
  const reply = await fetch(`${w.server.address}/v1/sessions`, { method: 'POST', headers, body });
  const agent = await Agent.open(w.server, 'Of somebody else');
  await agent.ask({ kind: 'confirmation', title: 'Not for Vern?' });
  agent.session = ((await reply.json()) as { id: string }).id;
  const asked = await agent.ask({ kind: 'confirmation', title: 'For Vern too?' });
  w.server.cli('users', 'create', 'vern', '--role', 'viewer', '--join-keys');
  const page = await w.at(w.server.link('vern'), { user: 'nobody' });
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('checkbox', { name: /For Vern too/u }).check();
  expect(await page.getByRole('checkbox', { name: /Not for Vern/u }).count()).toBe(0);
  await page.getByRole('region', { name: 'Selected questions' }).getByRole('button', { name: 'Approve…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Approve 1' }).click();
  await dialog.getByText('approved', { exact: true }).waitFor();
  expect((await agent.decided(asked.id)).resolution?.by?.name).toBe('vern');
});
