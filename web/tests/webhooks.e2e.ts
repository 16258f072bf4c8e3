import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Agent } from './support/agent';
import { Endpoint, signedBy } from './support/endpoint';
import { world } from './support/world';

const w = world({ words: ['--webhooks-networks', '127.0.0.0/8'] });
let endpoint: Endpoint;

beforeAll(async () => {
  endpoint = await Endpoint.start();
});

afterAll(() => endpoint?.stop());

const row = (page: Page) => page.getByRole('listitem').filter({ hasText: 'Tells the on-call channel' });

/** Creates a webhook on the page and returns its secret. */
async function make(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'New webhook' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Address' }).fill(endpoint.url);
  await dialog.getByRole('textbox', { name: /Event types/u }).fill('interaction.asked, interaction.answered');
  await dialog.getByRole('textbox', { name: /Description/u }).fill('Tells the on-call channel');
  await dialog.getByRole('button', { name: 'Create webhook' }).click();
  const secret = await dialog.locator('code').innerText();
  await page.mouse.click(5, 400);
  expect(await dialog.locator('code').innerText()).toBe(secret);
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await dialog.getByRole('button', { name: 'Copied' }).waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  return secret;
}

async function more(page: Page, item: string): Promise<void> {
  await row(page)
    .getByRole('button', { name: /^More for/u })
    .click();
  await page.getByRole('menuitem', { name: item }).click();
}

test('a webhook is created, sends messages and is deleted', async () => {
  const page = await w.at('/settings?tab=webhooks', { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
  const secret = await make(page);
  expect(secret).toMatch(/^whsec_/u);
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
  expect(await page.content()).not.toContain(secret);

  // Only the subscribed events arrive, signed with that secret.
  const agent = await Agent.open(w.server);
  await agent.ask({ kind: 'confirmation', title: 'Shall we?' });
  const asked = await endpoint.heard(({ type }) => type === 'interaction.asked');
  expect(signedBy(secret, asked)).toBe(true);
  expect(endpoint.messages.map(({ type }) => type)).not.toContain('session.started');
  await row(page)
    .getByRole('button', { name: /^Messages to/u })
    .click();
  await page.waitForURL(/webhook=whk_/u);
  const messages = row(page).getByRole('region', { name: /^Messages to/u });
  await messages.getByRole('listitem').filter({ hasText: 'interaction.asked' }).getByText('delivered').waitFor();

  // During a rotation, messages are signed with the new and the old secret.
  await more(page, 'New secret…');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Create secret' }).click();
  const second = await dialog.locator('code').innerText();
  await page.mouse.click(5, 400);
  expect(await dialog.locator('code').innerText()).toBe(second);
  await dialog.getByText(/also signed with the old secret until/u).waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await more(page, 'Send a test message');
  const tried = await endpoint.heard(({ type }) => type === 'webhook.test');
  expect([secret, second].map((one) => signedBy(one, tried))).toEqual([true, true]);
  expect(second).not.toBe(secret);

  // Disabled with a reason, and enabled again.
  await row(page)
    .getByRole('button', { name: /^Disable /u })
    .click();
  await dialog.getByRole('textbox', { name: /Reason/u }).fill('The channel moves');
  await dialog.getByRole('button', { name: 'Disable' }).click();
  await row(page).getByText('The channel moves').waitFor();
  await row(page)
    .getByRole('button', { name: /^Enable /u })
    .click();
  await row(page)
    .getByRole('button', { name: /^Disable /u })
    .waitFor();

  // The endpoint is gone: the message fails, the webhook is disabled with a reason, and the message is sent again.
  endpoint.replies = [410];
  await more(page, 'Send a test message');
  await row(page).getByText('the endpoint is gone (410)').first().waitFor();
  await row(page).getByRole('combobox', { name: 'State' }).selectOption('dead');
  await page.waitForURL(/state=dead/u);
  const dead = messages.getByRole('listitem').filter({ hasText: 'webhook.test' }).filter({ hasText: 'failed' });
  await dead.getByText('1 attempt').click();
  await dead.getByText('not today').waitFor();
  await dead.getByRole('button', { name: 'Send webhook.test again' }).click();
  await page.getByText('This webhook is disabled. Enable it first.').waitFor();
  endpoint.replies = [204];
  await row(page)
    .getByRole('button', { name: /^Enable /u })
    .click();
  await row(page)
    .getByRole('button', { name: /^Disable /u })
    .waitFor();
  await dead.getByRole('button', { name: 'Send webhook.test again' }).click();
  await messages.getByText('No messages.').waitFor();
  const tests = () => endpoint.messages.filter(({ type }) => type === 'webhook.test');
  await endpoint.heard(() => tests().length === 3);
  expect(tests()[2]?.id).toBe(tests()[1]?.id);

  // Deleted after confirmation.
  await more(page, 'Delete');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
});

test('an invalid address is refused at once, and the messages to an agent are explained', async () => {
  const page = await w.at('/settings?tab=webhooks');
  await page.getByRole('button', { name: 'New webhook' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Address' }).fill('ftp://example.com/');
  await dialog.getByRole('button', { name: 'Create webhook' }).click();
  await dialog.getByRole('alert').getByText('/url').waitFor();
  await dialog.getByRole('textbox', { name: 'Address' }).fill('https://hooks.example.com/');
  await dialog.getByRole('combobox', { name: 'Sends' }).selectOption('answers');
  await dialog.getByRole('textbox', { name: 'Agent name' }).fill('release-bot');
  await dialog.getByRole('checkbox', { name: 'Active' }).uncheck();
  await dialog.getByRole('button', { name: 'Create webhook' }).click();
  await dialog.getByRole('button', { name: 'Done' }).click();
  const made = page.getByRole('listitem').filter({ hasText: 'https://hooks.example.com/' });
  await made.getByText('answers for release-bot').waitFor();
  await made.getByText('disabled', { exact: true }).waitFor();
});

test('only admins see the settings of webhooks', async () => {
  const page = await w.at('/settings?tab=webhooks', { user: 'bob' });
  await page.getByRole('button', { name: 'Saved secrets' }).waitFor();
  expect(await page.getByRole('button', { name: /Webhook/iu }).count()).toBe(0);
});
