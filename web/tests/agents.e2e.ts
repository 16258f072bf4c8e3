import { expect, test } from 'vitest';
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

const w = world({ agents: { 'greeter.toml': GREETER }, flows: { 'welcome.toml': WELCOME } });

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
