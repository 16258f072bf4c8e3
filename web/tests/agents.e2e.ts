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

test('an agent of the server is started, spoken to, asks, is answered in place and goes on', async () => {
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

test('what is written while a message is on its way is the next one', async () => {
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

test('a flow is started with its input, and asks before its step', async () => {
  const page = await w.at('/agents');
  await page.getByRole('button', { name: 'Start welcome' }).click();
  await page
    .getByRole('dialog')
    .getByRole('textbox', { name: /work on/u })
    .fill('{"who": "everybody"}');
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  await page.getByText('everybody', { exact: true }).waitFor();
  const card = page.getByRole('article').filter({ hasText: 'Greet anybody at all?' });
  await card.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('list').filter({ hasText: 'Session started' }).getByText('Good morning.').waitFor();
});

test('a step that failed is tried again, then counted as done, and the flow goes on', async () => {
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
  await command('Try again');
  await steps.filter({ hasText: 'attempt 2' }).filter({ hasText: 'Failed' }).waitFor();
  await page.getByText('Session goes on').waitFor();
  await command('Count as done');
  await steps.filter({ hasText: 'greet' }).waitFor();
  expect(await steps.filter({ hasText: 'attempt 2' }).innerText()).toContain('Please: Count as done');
  const card = page.getByRole('article').filter({ hasText: 'What is your name?' });
  await card.waitFor();
  await command('Skip');
  await card.getByRole('status').waitFor();
  await page.getByText('Session completed').waitFor();
});

test('an agent is brought in as JSON: what is wrong is said where, a version never changes, and it is retired', async () => {
  const page = await w.at('/agents');
  const dialog = page.getByRole('dialog');
  const editor = dialog.getByRole('textbox', { name: 'Definition as JSON' });
  const script = { turns: [{ say: 'Hello.', again: true }] };
  const agent = { name: 'clerk', version: '1', description: 'Files things', model: { provider: 'scripted', script } };
  await page.getByRole('button', { name: 'New agent' }).click();
  await rewrite(editor, '{"name": ');
  await dialog.getByText('This is not a JSON object.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Add' }).isDisabled()).toBe(true);
  await rewrite(editor, JSON.stringify({ ...agent, workspace: '/etc' }));
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'workspace' }).waitFor();
  await rewrite(editor, JSON.stringify(agent));
  await dialog.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('button', { name: 'Start clerk' }).waitFor();
  await page.getByRole('button', { name: 'Details of clerk' }).click();
  await page.getByRole('button', { name: 'Next version from this' }).click();
  await editor.getByText('"2"').waitFor();
  await rewrite(editor, JSON.stringify({ ...agent, description: 'Files other things' }));
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByText(/There is such a version already/u).waitFor();
  await rewrite(editor, JSON.stringify({ ...agent, version: '2' }));
  await dialog.getByRole('button', { name: 'Add' }).click();
  await page.getByText('2 versions').waitFor();
  await page.getByRole('button', { name: 'Retire clerk 2' }).click();
  await dialog.getByRole('button', { name: 'Retire' }).click();
  await page.getByRole('button', { name: 'Retire clerk 2' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Start clerk' }).click();
  await dialog.getByRole('textbox', { name: /work on/u }).fill('File this.');
  await dialog.getByRole('button', { name: 'Start' }).click();
  await page.getByText('Hello.').first().waitFor();
  const bob = await w.at('/agents', { user: 'bob' });
  await bob.getByRole('button', { name: 'Details of clerk' }).click();
  await bob.getByText('Files things').first().waitFor();
  expect(await bob.getByRole('button', { name: /^(New|Next|Retire)/u }).count()).toBe(0);
});
