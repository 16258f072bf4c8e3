import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { rewrite } from './support/browser';
import { world } from './support/world';

const w = world();

const BASE = 'version = 1\ndefault = "ask"\n';

/** A policy text with a unique marker. */
const marked = (mark: string) => `${BASE}# ${mark}\n`;

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers = { Authorization: `Bearer ${w.server.keys.get('alice')}`, 'Content-Type': 'application/json' };
  const reply = await fetch(w.server.address + path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  expect(reply.status).toBe(200);
  return (await reply.json()) as T;
}

const put = (mark: string, reason?: string) =>
  call<{ version: string }>('PUT', '/v1/policy', { text: marked(mark), reason });

const inForce = async () => (await call<{ text: string }>('GET', '/v1/policy')).text;

const editorOf = (page: Page) => page.getByRole('textbox', { name: 'Policy in TOML' });
const review = (page: Page) => page.getByRole('button', { name: 'Review and activate…' });

test('the history has a row for each change with its reason and names the policy in force', async () => {
  const first = await put('first', 'to begin with');
  const second = await put('second', 'another try');
  await put('first', 'back: \u202eit was better');
  const page = await w.at('/policy?tab=history');
  const rows = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'Changes' }) });
  await rows.nth(2).waitFor();
  const texts = await rows.allInnerTexts();
  const wanted = [
    [first.version, 'back: U+202Eit was better'],
    [second.version, 'another try'],
    [first.version, 'to begin with'],
  ];
  for (const [at, [version, reason]] of wanted.entries()) {
    expect(texts[at]).toContain(version?.slice(0, 12));
    expect(texts[at]).toContain(reason);
  }
  expect(texts.map((text) => text.includes('active')).indexOf(true)).toBe(0);
  expect(texts.filter((text) => text.includes('active'))).toHaveLength(1);
});

test('a long history is read to its end and compared across its pages', async () => {
  for (let number = 0; number < 56; number++) await put(`change ${number}`);
  const whole = await call<{ versions: unknown[] }>('GET', '/v1/policy/versions?limit=200');
  const page = await w.at('/policy?tab=history');
  const open = page.getByRole('button', { name: 'Changes' });
  await open.nth(49).waitFor();
  expect(await open.count()).toBe(50);
  await open.nth(49).click();
  const changed = page.locator('.cm-changedLine');
  await changed.first().waitFor();
  expect(await changed.allInnerTexts()).toEqual(['# change 6']);
  await page.getByRole('button', { name: 'Show more' }).click();
  await open.nth(whole.versions.length - 1).waitFor();
  await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
  expect(await open.count()).toBe(whole.versions.length);
});

test('a policy text that could not be checked shows no result and cannot be reviewed', async () => {
  await put('good');
  const page = await w.at('/policy');
  await page.getByText('No findings').waitFor();
  await page.route('**/v1/policy/check', (route) => route.abort());
  await rewrite(editorOf(page), 'garbage');
  await page.getByText('This text could not be checked').waitFor();
  expect(await page.getByText('No findings').count()).toBe(0);
  expect(await review(page).isDisabled()).toBe(true);
  await page.unroute('**/v1/policy/check');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('This text could not be checked').waitFor({ state: 'detached' });
  await page.locator('footer').getByText(/1:\d/u).first().waitFor();
  expect(await review(page).isDisabled()).toBe(true);
});

test('no result is shown while a policy text is being checked, also after changing tabs', async () => {
  await put('known');
  const page = await w.at('/policy');
  await page.getByText('No findings').waitFor();
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/v1/policy/check', async (route) => {
    await released;
    await route.continue();
  });
  await rewrite(editorOf(page), 'garbage');
  await page.getByText('Checking…').waitFor();
  expect(await review(page).isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Explain a call' }).click();
  await page.getByRole('button', { name: 'Text', exact: true }).click();
  await page.getByText('Checking…').waitFor();
  expect(await page.getByText('No findings').count()).toBe(0);
  expect(await review(page).isDisabled()).toBe(true);
  release();
  await page.getByText('Checking…').waitFor({ state: 'detached' });
  expect(await review(page).isDisabled()).toBe(true);
});

test('an open review does not replace a newer policy and keeps the typed text', async () => {
  await put('before');
  const page = await w.at('/policy');
  await rewrite(editorOf(page), marked('mine'));
  await review(page).click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('.cm-changedLine', { hasText: '# mine' }).waitFor();
  await dialog.getByRole('textbox', { name: /Reason/u }).fill('my reason');
  await put('theirs', 'their reason');
  // The page reads the policy again by itself.
  await dialog.getByText('Somebody changed the policy in the meantime').waitFor();
  expect(await dialog.locator('.cm-deletedChunk').allInnerTexts()).toEqual([expect.stringContaining('# before')]);
  expect(await dialog.getByRole('button', { name: 'Activate' }).isDisabled()).toBe(true);
  await dialog.getByRole('button', { name: 'Show changes…' }).click();
  await page.getByRole('heading', { name: 'The active policy has changed' }).waitFor();
  await dialog.getByText('their reason').waitFor();
  await dialog.locator('.cm-changedLine', { hasText: '# theirs' }).waitFor();
  await dialog.locator('.cm-changedLine', { hasText: '# mine' }).waitFor();
  await dialog.getByRole('button', { name: 'Continue with my draft' }).click();
  await page.getByText('Somebody changed the policy after you started').waitFor({ state: 'detached' });
  expect(await inForce()).toBe(marked('theirs'));
  await review(page).click();
  await dialog.locator('.cm-deletedChunk', { hasText: '# theirs' }).waitFor();
  expect(await dialog.getByRole('textbox', { name: /Reason/u }).inputValue()).toBe('my reason');
  await dialog.getByRole('button', { name: 'Activate' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await inForce()).toBe(marked('mine'));
});

test('an earlier text replaces a draft only on request and is compared with the policy in force', async () => {
  await put('old');
  await put('new');
  const page = await w.at('/policy');
  await rewrite(editorOf(page), marked('my draft'));
  await page.getByText('Not active yet').waitFor();
  await put('newer');
  await page.getByText('Somebody changed the policy after you started').waitFor();
  await page.getByRole('button', { name: 'History' }).click();
  const use = page.getByRole('button', { name: 'Use as draft' }).first();
  await use.click();
  await page.getByRole('button', { name: 'Keep draft' }).click();
  await page.getByRole('button', { name: 'Text', exact: true }).click();
  await editorOf(page).getByText('# my draft').waitFor();
  await page.getByRole('button', { name: 'History' }).click();
  await use.click();
  await page.getByRole('button', { name: 'Replace draft' }).click();
  await editorOf(page).getByText('# new', { exact: true }).waitFor();
  expect(await page.getByText('Somebody changed the policy after you started').count()).toBe(0);
  await review(page).click();
  await page.getByRole('dialog').locator('.cm-deletedChunk', { hasText: '# newer' }).waitFor();
});

test('a ruling is shown only beside its own call', async () => {
  await call('PUT', '/v1/policy', {
    text: `${BASE}[[rule]]\nname = "free"\ntools = ["read_file"]\nverdict = "allow"\nreason = "Reading is free."\n`,
  });
  const page = await w.at('/policy?tab=explain');
  const tool = page.getByRole('textbox', { name: 'Tool' });
  await tool.fill('read_file');
  await page.getByRole('button', { name: 'Explain', exact: true }).click();
  await page.getByText('Reading is free.').waitFor();
  await tool.fill('delete_file');
  await page.getByText('Explain it again').waitFor();
  expect(await page.getByText('Reading is free.').count()).toBe(0);
  await page.getByRole('button', { name: 'Explain', exact: true }).click();
  await page.getByText('Rules in order').waitFor();
  await page.getByRole('textbox', { name: 'Arguments as JSON' }).fill('{}');
  await page.getByText('Rules in order').waitFor({ state: 'detached' });
});

test('a pause by another person appears without a reload, with hidden characters of its reason', async () => {
  const page = await w.at('/policy');
  await editorOf(page).waitFor();
  await call('PUT', '/v1/policy/enabled', { enabled: false, reason: 'a \u202edrill' });
  await page.getByText('approvals paused').waitFor();
  expect(
    await page
      .getByText(/Approvals are paused/u)
      .locator('xpath=..')
      .innerText(),
  ).toContain('a U+202Edrill');
  await call('PUT', '/v1/policy/enabled', { enabled: true, reason: 'over' });
  await page.getByText('approvals paused').waitFor({ state: 'detached' });
});
