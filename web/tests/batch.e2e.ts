import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

// Batches: the subject of each question, the answer to send, and the result.

const w = world();

const select = (page: Page, hasText: string) =>
  page.locator('[data-question]', { hasText }).getByRole('checkbox').check();
const row = (page: Page, hasText: string) => page.getByRole('dialog').getByRole('listitem').filter({ hasText }).first();

test('a row of a batch shows its question and the answer that will be sent', async () => {
  const agent = await Agent.open(w.server, 'Backups');
  const asked = await agent.ask({
    kind: 'confirmation',
    title: 'Keep the old backups?',
    message: 'They hold the only copy of 2019.',
    details: 'Two disks in the cellar.',
    deadline_seconds: 3600,
    options: [
      { id: 'del', label: 'Delete them', effect: 'approve', risk: 'Gone for good.' },
      { id: 'keep', label: 'Keep them', effect: 'reject' },
    ],
  });
  await agent.ask({
    kind: 'confirmation',
    title: 'Wipe the cellar?',
    options: [
      { id: 'w', label: 'Wipe it', effect: 'approve', dangerous: true },
      { id: 'n', label: 'Leave it', effect: 'reject' },
    ],
  });
  await agent.propose('file', 'write_file', { path: '/srv/a.txt', old_string: 'one', new_string: 'two' });
  await agent.propose('list', 'execute_command', { command: ['sudo', 'rm', '-rf', '/srv/old data'] });
  const bob = w.server.keys.get('bob');
  await fetch(`${w.server.address}/v1/interactions/${asked.id}/claim`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${bob}`, 'Content-Type': 'application/json' },
    body: '{}',
  });
  const page = await w.at('/inbox');
  for (const text of ['Keep the old backups?', 'Wipe the cellar?', 'write_file', 'sudo']) await select(page, text);
  await page.getByRole('button', { name: 'Approve…' }).click();
  const backups = row(page, 'Keep the old backups?');
  for (const text of ['They hold the only copy of 2019.', 'Two disks in the cellar.', 'Delete them', 'Gone for good.'])
    await backups.getByText(text, { exact: true }).waitFor();
  await backups.getByText('release-bot').waitFor();
  await backups.getByText('bob is working on this.').waitFor();
  await backups.getByRole('timer').waitFor();
  expect(await backups.getByText('Keep them').count()).toBe(0);
  await row(page, 'Wipe the cellar?').getByText('Dangerous: open it to answer').waitFor();
  const file = row(page, 'Run write_file');
  await file.locator('.editor-diff').waitFor();
  await file.getByText('Approve', { exact: true }).waitFor();
  const command = row(page, 'Run execute_command');
  await command.getByText("sudo rm -rf '/srv/old data'").first().waitFor();
  await command.getByText('runs as root or another user').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Approve…');
});

test('over 100 questions are decided at once, and earlier answers of others are named', async () => {
  const agent = await Agent.open(w.server, 'Very many');
  const asked = await Promise.all(
    Array.from({ length: 104 }, (_, n) => agent.ask({ kind: 'review', title: `Page ${n}` })),
  );
  const page = await w.at('/inbox?kind=review');
  const boxes = page.getByRole('checkbox', { name: /^Select “/u });
  const all = page.getByRole('checkbox', { name: 'Select all questions shown' });
  await all.waitFor();
  for (const count of [100, 104]) {
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => boxes.count()).toBe(count);
  }
  await boxes.nth(1).click();
  await boxes.nth(4).click({ modifiers: ['Shift'] });
  await page.getByText('4 selected').waitFor();
  expect(await all.evaluate((box) => (box as HTMLInputElement).indeterminate)).toBe(true);
  await all.check();
  await page.getByText('104 selected').waitFor();
  await page.getByRole('button', { name: 'Reject…' }).click();
  const dialog = page.getByRole('dialog');
  const bob = w.server.keys.get('bob');
  await fetch(`${w.server.address}/v1/interactions/${asked[103]?.id}/answer`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${bob}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ effect: 'approve' }),
  });
  await dialog.getByRole('button', { name: 'Reject 104' }).click();
  await dialog.getByText('104 of 104 sent').waitFor();
  expect(await dialog.getByText('rejected', { exact: true }).count()).toBe(103);
  await dialog.getByText('This question is already closed.').waitFor();
  await dialog.getByText('Approved by bob').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('inbox-title');
  expect((await agent.decided(asked[102]?.id ?? '')).resolution?.answer?.effect).toBe('reject');
});
