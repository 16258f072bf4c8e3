import { expect, test } from 'vitest';
import { rewrite } from './support/browser';
import { world } from './support/world';

const GREETER = `
name = "greeter"
version = "1"
description = "Greets people by their names"
tools = ["ask_user"]

[model]
provider = "scripted"

[[model.script.turns]]
say = "Good morning."
calls = [{ tool = "ask_user_clarify", arguments = { question = "What is your name?" } }]

[[model.script.turns]]
when = "Ada"
say = "Ada! The tea is ready."

[[model.script.turns]]
say = "Nice to meet you."
again = true
`;

const WELCOME = `
name = "welcome"
version = "1"
description = "Asks first, then greets"

[[steps]]
name = "greet"
agent = "greeter"
input = "Greet."

[steps.question]
kind = "confirmation"
title = "Greet anybody at all?"
`;

const SULKER = `
name = "sulker"
version = "1"
limits = { iterations = 1 }

[model]
provider = "scripted"

[[model.script.turns]]
say = "Hm."
calls = [{ tool = "wish", arguments = {} }]
again = true
`;

const SULK = `
name = "sulk"
version = "1"
description = "Never gets anywhere by itself"

[[steps]]
name = "try"
agent = "sulker"
input = "Go."

[[steps]]
name = "greet"
agent = "greeter"
input = "Greet."
`;

const w = world({
  agents: { 'greeter.toml': GREETER, 'sulker.toml': SULKER },
  flows: { 'welcome.toml': WELCOME, 'sulk.toml': SULK },
});

test('a hosted agent is started, gets a message, asks, is answered in place and continues', async () => {
  const page = await w.at('/agents');
  await page.getByText('Greets people by their names').waitFor();
  await page.getByRole('button', { name: 'Start greeter' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: /Title/u }).fill('A morning');
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  await page.getByRole('heading', { level: 1, name: 'A morning' }).waitFor();
  await page.getByRole('textbox', { name: 'Message to the agent' }).fill('Hello!');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const timeline = page.getByRole('list').filter({ hasText: 'Session started' });
  await timeline.getByText('Hello!').waitFor();
  await timeline.getByText('Good morning.').waitFor();
  expect(await page.getByRole('textbox', { name: 'Message to the agent' }).inputValue()).toBe('');
  const card = page.getByRole('article');
  await card.getByText('What is your name?').first().waitFor();
  await card.getByRole('textbox', { name: 'Answer' }).fill('Ada');
  await card.getByRole('button', { name: 'Send answer' }).click();
  await timeline.getByText('Ada! The tea is ready.').waitFor();
});

test('text written while a message is being sent belongs to the next message', async () => {
  const page = await w.at('/agents');
  await page.getByRole('button', { name: 'Start greeter' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  const message = page.getByRole('textbox', { name: 'Message to the agent' });

  const waiting: (() => void)[] = [];
  await page.route('**/messages', async (route) => {
    await new Promise<void>((go) => waiting.push(go));
    await route.continue();
  });
  await message.fill('First');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await message.fill('Second');
  await expect.poll(() => waiting.length).toBe(1);
  for (const go of waiting) go();
  await page.getByRole('list').filter({ hasText: 'Session started' }).getByText('First').waitFor();
  expect(await message.inputValue()).toBe('Second');
});

test('a message whose reply is lost is stored once', async () => {
  const page = await w.at('/agents');
  await page.getByRole('button', { name: 'Start greeter' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  const message = page.getByRole('textbox', { name: 'Message to the agent' });
  const keys: string[] = [];
  await page.route('**/messages', async (route) => {
    keys.push(route.request().headers()['idempotency-key'] ?? '');
    if (keys.length > 1) return route.continue();
    await route.fetch();
    await message.pressSequentially(', and then');
    await route.abort();
  });
  await message.fill('Hello');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect.poll(() => keys.length).toBe(2);
  expect(keys[0]).toBe(keys[1]);
  await expect.poll(() => message.inputValue()).toBe(', and then');
  const timeline = page.getByRole('list').filter({ hasText: 'Session started' });
  expect(await timeline.getByText('Hello', { exact: true }).count()).toBe(1);
});

test('a flow is started with its input, and asks before its step', async () => {
  const page = await w.at('/agents');
  await page.getByRole('button', { name: 'Start welcome' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: /Task/u }).fill('{"who": "everybody"}');
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  await page.getByText('everybody', { exact: true }).waitFor();
  const card = page.getByRole('article').filter({ hasText: 'Greet anybody at all?' });
  await card.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('list').filter({ hasText: 'Session started' }).getByText('Good morning.').waitFor();
});

test('a failed step is retried, then approved, and the flow continues', async () => {
  const page = await w.at('/agents');
  await page.getByRole('button', { name: 'Start sulk', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  const steps = page.getByRole('region', { name: 'Steps' }).getByRole('listitem');
  const command = async (name: string) => {
    await steps.last().getByRole('button', { name }).click();
    await page
      .getByRole('dialog')
      .getByRole('textbox', { name: /Reason/u })
      .fill(`Please: ${name}`);
    await page.getByRole('dialog').getByRole('button', { name }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await steps.filter({ hasText: 'Failed' }).waitFor();
  await command('Retry');
  await steps.filter({ hasText: 'attempt 2' }).filter({ hasText: 'Failed' }).waitFor();
  await page.getByText('Session continued').waitFor();
  await command('Mark as done');
  await steps.filter({ hasText: 'greet' }).waitFor();
  expect(await steps.filter({ hasText: 'attempt 2' }).innerText()).toContain('Please: Mark as done');
  const card = page.getByRole('article').filter({ hasText: 'What is your name?' });
  await card.waitFor();
  await command('Skip');
  await card.getByRole('status').waitFor();
  await page.getByText('Session completed').waitFor();
});

test('an agent is created from JSON with errors shown in place, and is retired', async () => {
  const page = await w.at('/agents');
  const dialog = page.getByRole('dialog');
  const editor = dialog.getByRole('textbox', { name: 'Definition as JSON' });
  const script = { turns: [{ say: 'Hello.', again: true }] };
  const agent = { name: 'clerk', version: '1', description: 'Files things', model: { provider: 'scripted', script } };
  await page.getByRole('button', { name: 'New agent' }).click();
  await rewrite(editor, '{"name": ');
  await dialog.getByText('This must be a JSON object.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Add' }).isDisabled()).toBe(true);
  await rewrite(editor, JSON.stringify({ ...agent, workspace: '/etc' }));
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'workspace' }).waitFor();
  await rewrite(editor, JSON.stringify(agent));
  await dialog.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('button', { name: 'Start clerk' }).waitFor();
  await page.getByRole('button', { name: 'Details of clerk' }).click();
  await page.getByRole('button', { name: 'Create next version' }).click();
  await editor.getByText('"2"').waitFor();
  await rewrite(editor, JSON.stringify({ ...agent, description: 'Files other things' }));
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByText(/This version already exists/u).waitFor();
  await rewrite(editor, JSON.stringify({ ...agent, version: '2' }));
  await dialog.getByRole('button', { name: 'Add' }).click();
  await page.getByText('2 versions').waitFor();
  await page.getByRole('button', { name: 'Retire clerk 2' }).click();
  await dialog.getByRole('button', { name: 'Retire' }).click();
  await page.getByRole('button', { name: 'Retire clerk 2' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Start clerk' }).click();
  await dialog.getByRole('textbox', { name: /Task/u }).fill('File this.');
  await dialog.getByRole('button', { name: 'Start' }).click();
  await page.getByText('Hello.').first().waitFor();
  const bob = await w.at('/agents', { user: 'bob' });
  await bob.getByRole('button', { name: 'Details of clerk' }).click();
  await bob.getByText('Files things').first().waitFor();
  expect(await bob.getByRole('button', { name: /^(New|Create next|Retire)/u }).count()).toBe(0);
});

test('an unfinished definition survives its dialog and a reload', async () => {
  const page = await w.at('/agents');
  const dialog = page.getByRole('dialog');
  const editor = dialog.getByRole('textbox', { name: 'Definition as JSON' });
  await page.getByRole('button', { name: 'New agent' }).click();
  await rewrite(editor, '{"name": "half');
  await page.mouse.click(5, 400);
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'New flow' }).click();
  await editor.getByText('my-flow').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'New agent' }).click();
  await editor.getByText('{"name": "half').waitFor();
  await editor.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('button', { name: 'New agent' }).click();
  await editor.getByText('{"name": "half').waitFor();
  await dialog.getByRole('button', { name: 'Discard changes' }).click();
  await editor.getByText('my-agent').waitFor();
});

test('an unfinished task survives its dialog, which says whether it is text or JSON', async () => {
  const page = await w.at('/agents');
  const dialog = page.getByRole('dialog');
  const input = dialog.getByRole('textbox', { name: /Task/u });
  await page.getByRole('button', { name: 'Start greeter' }).click();
  await input.fill('Greet');
  await dialog.getByText('Sent as text.').waitFor();
  await input.fill('{"who": "all"}');
  await dialog.getByText('Sent as JSON.').waitFor();
  await input.fill('{"who": "all"');
  await dialog.getByText(/looks like JSON but is not valid/u).waitFor();
  await page.mouse.click(5, 400);
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Start welcome' }).click();
  expect(await input.inputValue()).toBe('');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Start greeter' }).click();
  expect(await input.inputValue()).toBe('{"who": "all"');
});

test('a start whose reply was lost happens once and can then be changed', async () => {
  const page = await w.at('/agents');
  const dialog = page.getByRole('dialog');
  const title = dialog.getByRole('textbox', { name: /Title/u });
  const titled = async (name: string) => {
    const reply = await fetch(`${w.server.address}/v1/sessions?limit=200`, {
      headers: { Authorization: `Bearer ${w.server.keys.get('alice')}` },
    });
    const { sessions } = (await reply.json()) as { sessions: { title?: string }[] };
    return sessions.filter((one) => one.title === name).length;
  };
  const lose = async (name: string) => {
    await page.route('**/v1/sessions', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: 'Start greeter' }).click();
    await title.fill(name);
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.getByRole('alert').waitFor();
    await page.unroute('**/v1/sessions');
  };
  await lose('Lost once');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Start greeter' }).click();
  await dialog.getByRole('button', { name: 'Start' }).click();
  await page.getByRole('heading', { level: 1, name: 'Lost once' }).waitFor();
  expect(await titled('Lost once')).toBe(1);
  await page.getByRole('link', { name: 'Agents' }).click();
  await lose('Lost twice');
  await title.fill('Found');
  await dialog.getByRole('button', { name: 'Start' }).click();
  await page.getByRole('heading', { level: 1, name: 'Found' }).waitFor();
});

test('all of 205 agents can be started, and a failed read is repeated', async () => {
  const headers = { Authorization: `Bearer ${w.server.keys.get('alice')}`, 'Content-Type': 'application/json' };
  const script = { turns: [{ say: 'Hello.', again: true }] };
  for (let n = 0; n < 205; n += 1) {
    const body = JSON.stringify({ name: `many-${n}`, version: '1', model: { provider: 'scripted', script } });
    const reply = await fetch(`${w.server.address}/v1/agents`, { method: 'POST', headers, body });
    if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`);
  }
  const page = await w.at('/inbox');
  await page.route('**/v1/flows*', (route) => route.fulfill({ status: 500, json: { code: 'internal' } }));
  await page.getByRole('link', { name: 'Agents' }).click();
  await page
    .getByRole('button', { name: /^Start many-/u })
    .first()
    .waitFor();
  expect(await page.getByRole('button', { name: /^Start many-/u }).count()).toBe(205);
  await page.getByRole('button', { name: 'Start sulker' }).waitFor();
  await page.unroute('**/v1/flows*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('button', { name: 'Start welcome' }).waitFor();
});
