import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

const w = world();

beforeAll(() => {
  for (const name of ['dana', 'erin']) w.server.cli('users', 'create', name, '--role', 'operator');
});

/** Tag and name of the focused element. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const now = document.activeElement;
    const name = now?.getAttribute('aria-label') ?? now?.textContent ?? '';
    return `${now?.tagName} ${name.trim().slice(0, 60)}`;
  });
}

async function confirmation(title: string): Promise<string> {
  const agent = await Agent.open(w.server, title);
  return (await agent.ask({ kind: 'confirmation', title })).id;
}

async function press(page: Page, name: string, key = 'Enter'): Promise<void> {
  const button = page.getByRole('button', { name, exact: true, disabled: false });
  await button.focus();
  await page.keyboard.press(key);
}

const refuse = (page: Page) =>
  page.route('**/answer', (route) =>
    route.fulfill({
      status: 409,
      contentType: 'application/problem+json',
      body: JSON.stringify({ code: 'answer_invalid', title: 'no', status: 409 }),
    }),
  );

test.each(['Confirm', 'Cancel'])('after an answer by keyboard the focus is on the result (%s)', async (move) => {
  const page = await w.at(`/inbox/${await confirmation(`Ends by ${move}`)}`);
  await press(page, move);
  if (move === 'Cancel') {
    await page.getByRole('textbox', { name: /Reason/u }).waitFor();
    await page.keyboard.type('No.');
    await page.keyboard.press('Control+Enter');
  }
  await page.locator('[data-closed]').waitFor();
  await expect.poll(() => focused(page)).toMatch(/^P /u);
});

test('a refused answer leaves the focus where it was', async () => {
  const page = await w.at(`/inbox/${await confirmation('Not taken')}`);
  await refuse(page);
  await press(page, 'Confirm');
  await page.getByRole('alert').first().waitFor();
  await expect.poll(() => focused(page)).toBe('BUTTON Confirm');
  await press(page, 'Cancel');
  const reason = page.getByRole('textbox', { name: /Reason/u });
  await reason.waitFor();
  await page.keyboard.type('No.');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('alert').first().waitFor();
  await expect.poll(() => focused(page)).toMatch(/^TEXTAREA/u);
});

test.each(['Back', 'Escape'])('%s returns the focus from a reason to its button', async (way) => {
  const page = await w.at(`/inbox/${await confirmation(`Begun, then ${way}`)}`);
  await press(page, 'Cancel');
  await page.getByRole('textbox', { name: /Reason/u }).waitFor();
  if (way === 'Back') await press(page, 'Back');
  else await page.keyboard.press('Escape');
  await page.getByRole('textbox', { name: /Reason/u }).waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toBe('BUTTON Cancel');
});

test('the focus follows claim, release and handover', async () => {
  const page = await w.at(`/inbox/${await confirmation('Whose is it?')}`);
  await press(page, 'Claim');
  await page.getByRole('button', { name: 'Release' }).waitFor();
  await expect.poll(() => focused(page)).toBe('BUTTON Release');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Claim' }).waitFor();
  await expect.poll(() => focused(page)).toBe('BUTTON Claim');
  for (const time of ['first', 'second']) {
    await press(page, 'More');
    await page.getByRole('menuitem', { name: 'Hand over…' }).press('Enter');
    await page.getByRole('dialog').waitFor();
    await expect.poll(() => focused(page), { message: time }).toMatch(/^TEXTAREA/u);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page), { message: time }).toBe('BUTTON More');
  }
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Hand over…' }).press('Enter');
  await press(page, 'Hand over');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toBe('H2 Whose is it?');
});

test('the focus has a place after a batch is cleared or sent', async () => {
  for (const title of ['Batch one', 'Batch two']) await confirmation(title);
  const page = await w.at('/inbox?q=Batch');
  await page.getByRole('checkbox', { name: 'Select “Batch one”' }).focus();
  await page.keyboard.press('Space');
  await press(page, 'Clear selection');
  await expect.poll(() => focused(page)).toBe('H1 Inbox');
  await page.getByRole('checkbox', { name: 'Select “Batch one”' }).focus();
  await page.keyboard.press('Space');
  await press(page, 'Approve…');
  await page.getByRole('dialog').waitFor();
  // A key press on a disabled button does nothing, so wait until it is enabled.
  await page.getByRole('dialog').getByRole('button', { name: 'Approve 1', disabled: false }).press('Enter');
  await page.getByRole('button', { name: 'Done' }).press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toBe('H1 Inbox');
});

test('a row that leaves the list gives the focus to the next one', async () => {
  const ids: string[] = [];
  for (const title of ['Row one', 'Row two', 'Row three', 'Row four']) ids.push(await confirmation(title));
  const page = await w.at('/inbox?q=Row', { viewport: { width: 900, height: 860 } });
  await page.locator(`[data-question="${ids[1]}"] a`).focus();
  const headers = { Authorization: `Bearer ${w.server.keys.get('bob')}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ option: 'confirm' });
  await fetch(`${w.server.address}/v1/interactions/${ids[1]}/answer`, { method: 'POST', headers, body });
  await page.locator(`[data-question="${ids[1]}"]`).waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toBe('A Row three');
  await page.keyboard.press('j');
  await expect.poll(() => focused(page)).toBe('A Row four');
});

test('the focus has a place after revoking a grant or a key and disabling a person', async () => {
  const agent = await Agent.open(w.server);
  const call = await agent.propose('c1', 'delete_file', { path: '/tmp/a' });
  const headers = { Authorization: `Bearer ${w.server.keys.get('bob')}`, 'Content-Type': 'application/json' };
  const remember = { scope: 'project', arguments: { path: '/tmp/*' }, seconds: 3600, uses: 20 };
  await fetch(`${w.server.address}/v1/interactions/${call.interaction}/answer`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ option: 'approve', remember }),
  });
  w.server.key('night-bot', 'agent');
  const page = await w.at('/grants');
  const dialog = page.getByRole('dialog');
  const sure = async (opener: string, name: string) => {
    await press(page, opener);
    await dialog.getByRole('button', { name, exact: true }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
  };
  await sure('Revoke', 'Revoke');
  await page.getByRole('listitem').filter({ hasText: 'delete_file' }).waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toBe('H1 Standing approvals');
  await page.goto(`${w.server.page}/settings?tab=keys`);
  await sure('Revoke the key of night-bot', 'Revoke');
  await expect.poll(() => focused(page)).toMatch(/^LI night-bot/u);
  await page.goto(`${w.server.page}/settings?tab=people`);
  await sure('Disable dana', 'Disable');
  await expect.poll(() => focused(page)).toMatch(/^LI dana/u);
  await page
    .getByRole('listitem')
    .filter({ hasText: 'dana' })
    .getByRole('button', { name: /^Enable /u })
    .press('Enter');
  await dialog.getByRole('button', { name: 'Enable' }).press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toMatch(/^LI dana/u);
});

test('the focus has a place after an answer in a session and after its cancellation', async () => {
  const agent = await Agent.open(w.server, 'All in one');
  await agent.ask({ kind: 'confirmation', title: 'Here and now' });
  const page = await w.at(`/sessions/${agent.session}`);
  await press(page, 'Confirm');
  await page.getByRole('article').getByRole('status').filter({ hasText: 'Confirm' }).waitFor();
  await expect.poll(() => focused(page)).toBe('H3 Here and now');
  await press(page, 'Cancel');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toBe('H1 All in one');
});

test('the focus stays in a long list, and j continues beyond the first 50', async () => {
  for (let batch = 0; batch < 6; batch += 1)
    await Promise.all(Array.from({ length: 9 }, (_, n) => confirmation(`Long ${batch * 9 + n}`)));
  const page = await w.at('/inbox?q=Long', { viewport: { width: 900, height: 860 } });
  await press(page, 'Show more');
  await page.locator('[data-question]').nth(53).waitFor();
  await expect.poll(() => focused(page)).toMatch(/^A Long/u);
  await page.reload();
  await page.locator('[data-question] a').nth(49).focus();
  const last = await focused(page);
  await page.keyboard.press('j');
  await page.locator('[data-question]').nth(50).waitFor();
  await expect.poll(() => focused(page)).toMatch(/^A Long/u);
  await expect.poll(() => focused(page)).not.toBe(last);
});

test('the tab title names the open question or the page', async () => {
  const id = await confirmation('Named in the tab');
  const page = await w.at(`/inbox/${id}`);
  await expect.poll(() => page.title()).toMatch(/^\(\d+\) Named in the tab · Holdpoint$/u);
  await page.goto(`${w.server.page}/inbox`);
  await expect.poll(() => page.title()).toMatch(/^\(\d+\) Inbox · Holdpoint$/u);
});

test('a dialog opens with the focus on its first field', async () => {
  const page = await w.at('/settings?tab=keys');
  await press(page, 'New key');
  await page.getByRole('dialog').waitFor();
  await expect.poll(() => focused(page)).toMatch(/^(INPUT|SELECT|TEXTAREA)/u);
});

test('on a phone the back link returns the focus to the row of the question', async () => {
  const id = await confirmation('Back to me');
  const page = await w.at('/inbox?q=Back', { viewport: { width: 360, height: 740 } });
  await page.locator(`[data-question="${id}"] a`).press('Enter');
  await expect.poll(() => focused(page)).toMatch(/^H\d Back to me/u);
  await page.getByRole('article').getByRole('link', { name: 'Inbox' }).press('Enter');
  await expect.poll(() => focused(page)).toBe('A Back to me');
});

test('a dialog opened from a menu returns the focus to the menu button every time', async () => {
  const page = await w.at('/inbox');
  for (const time of ['first', 'second', 'third']) {
    await page.getByRole('button', { name: 'Account of alice' }).first().press('Enter');
    await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).press('Enter');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page), { message: time }).toBe('BUTTON Account of alice');
  }
});

test('a field that a person has left does not take the focus back', async () => {
  const page = await w.at('/inbox?q=Something');
  await page.getByRole('searchbox').click();
  await page.locator('h1').click();
  await expect.poll(() => focused(page)).toMatch(/^MAIN/u);
  await confirmation('Something else happens');
  await page.getByRole('link', { name: 'Something else happens' }).waitFor();
  expect(await focused(page)).toMatch(/^MAIN/u);
});
