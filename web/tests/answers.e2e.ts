import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { rewrite } from './support/browser';
import { world } from './support/world';

const w = world();

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('article').getByRole('button', { name, exact: true });

/** Waits for the resolution, which the page shows only after the server's response. */
async function ended(page: Page, text: string | RegExp): Promise<void> {
  await page.getByRole('article').getByRole('status').filter({ hasText: text }).waitFor();
}

test('an approval shows the parsed parts and takes one click', async () => {
  const agent = await Agent.open(w.server);
  const call = await agent.propose('c1', 'execute_command', {
    command: 'cd /srv && FOO=1 git -C x push origin main | tee log.txt',
  });
  const page = await w.at(`/inbox/${call.interaction}`);
  const parts = page.getByRole('list', { name: 'Commands' });
  await parts.waitFor();
  expect(await parts.getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringContaining('cd /srv'),
    expect.stringContaining('git -C x push origin main'),
    expect.stringContaining('tee log.txt'),
  ]);
  expect(await page.getByText('changes directory').count()).toBe(1);
  await button(page, 'Approve').click();
  await ended(page, 'You approved this');
  expect((await agent.action('c1')).state).toBe('allowed');
});

test('risks of commands, paths, addresses and SQL are named', async () => {
  const agent = await Agent.open(w.server);
  const calls: [string, Record<string, unknown>, string[], RegExp?][] = [
    ['execute_command', { command: 'sudo rm *.log' }, ['runs as root or another user', 'wildcards']],
    ['execute_command', { command: '$TOOL --all' }, ['depends on the moment it runs'], /Cannot be fully predicted/u],
    [
      'write_file',
      { path: '../.git/hooks/x', content: 'y' },
      ['leaves its directory', 'a file that controls what programs run'],
    ],
    ['write_file', { path: '~/x', content: 'y' }, [], /Could not be parsed/u],
    [
      'http_request',
      { url: 'http://a:b@10.0.0.1/' },
      ['this machine or an internal network', 'user name or password in the address', 'not encrypted'],
    ],
    ['run_sql', { sql: 'DELETE FROM users; DROP TABLE audit' }, ['affects every row', 'drops or empties a table']],
  ];
  for (const [at, [tool, values, risks, doubt]] of calls.entries()) {
    const call = await agent.propose(`c${at}`, tool, values);
    const page = await w.at(`/inbox/${call.interaction}`);
    if (risks.length > 0) {
      const told = page.getByRole('list', { name: 'Risk' });
      await told.waitFor();
      expect(await told.getByRole('listitem').allInnerTexts()).toEqual(risks);
    }
    if (doubt) await page.getByText(doubt).waitFor();
  }
});

test('a file change is shown as a diff, and an edit shows its own diff and is what runs', async () => {
  const agent = await Agent.open(w.server);
  const values = { path: '/srv/app/a.toml', content: 'workers = 8\n' };
  const call = await agent.propose('c1', 'write_file', values, { context: { before: 'workers = 4\n' } });
  const page = await w.at(`/inbox/${call.interaction}`);
  await page.locator('.cm-deletedChunk', { hasText: 'workers = 4' }).waitFor();
  await page.locator('.cm-changedLine', { hasText: 'workers = 8' }).waitFor();
  await button(page, 'Edit and approve').click();
  await page.getByText('No changes yet').waitFor();
  expect(await button(page, 'Edit and approve').isDisabled()).toBe(true);
  await page.getByRole('textbox', { name: 'content' }).fill('workers = 6\n');
  await page.locator('.cm-changedLine', { hasText: 'workers = 6' }).waitFor();
  await button(page, 'Edit and approve').click();
  await ended(page, 'You approved this with changes');
  expect(await agent.action('c1')).toMatchObject({
    state: 'allowed',
    arguments: { path: '/srv/app/a.toml', content: 'workers = 6\n' },
    original_arguments: values,
  });
});

test('an edit as JSON cannot be sent unless it is an object', async () => {
  const agent = await Agent.open(w.server);
  const call = await agent.propose('c1', 'execute_command', { command: 'ls' });
  const page = await w.at(`/inbox/${call.interaction}?move=edit`);
  await page.getByRole('tab', { name: 'JSON' }).click();
  const editor = page.getByRole('textbox', { name: 'Arguments as JSON' });
  await rewrite(editor, '[1]');
  await page.getByText('This must be a JSON object.').waitFor();
  expect(await button(page, 'Edit and approve').isDisabled()).toBe(true);
  await rewrite(editor, '{"command": "ls -l"}');
  await button(page, 'Edit and approve').click();
  await ended(page, 'You approved this with changes');
  expect((await agent.action('c1')).arguments).toEqual({ command: 'ls -l' });
});

test('a rejection with its reason reaches the agent, and nothing runs', async () => {
  const agent = await Agent.open(w.server);
  const call = await agent.propose('c1', 'execute_command', { command: 'rm -rf build' });
  const page = await w.at(`/inbox/${call.interaction}`);
  await button(page, 'Reject').click();
  await page.getByRole('textbox', { name: /Reason/u }).fill('Not on a Friday.');
  await button(page, 'Reject').click();
  await ended(page, 'Not on a Friday.');
  expect(await agent.action('c1')).toMatchObject({ state: 'rejected', feedback: 'Not on a Friday.' });
});

test('asking for changes requires feedback', async () => {
  const agent = await Agent.open(w.server);
  const call = await agent.propose('c1', 'execute_command', { command: 'make' });
  const page = await w.at(`/inbox/${call.interaction}`);
  await button(page, 'Ask for changes').click();
  expect(await button(page, 'Send back').isDisabled()).toBe(true);
  await page.getByRole('textbox', { name: 'What should change?' }).fill('Use ninja.');
  await button(page, 'Send back').click();
  await ended(page, 'You sent this back for changes');
  expect(await agent.action('c1')).toMatchObject({ state: 'rejected', effect: 'retry', feedback: 'Use ninja.' });
});

test('a remembered approval is spelled out, and the next call runs without a question', async () => {
  const agent = await Agent.open(w.server);
  const call = await agent.propose('c1', 'execute_command', { command: 'date' });
  const page = await w.at(`/inbox/${call.interaction}`);
  await page.getByRole('checkbox', { name: /Also allow this from now on/u }).check();
  await page
    .getByText(/release-bot may then run execute_command with exactly these arguments, in this session only, for 1/u)
    .waitFor();
  await page.getByRole('combobox', { name: 'Number of uses' }).selectOption('5');
  await page.getByText(/at most 5 times/u).waitFor();
  await button(page, 'Approve').click();
  await ended(page, 'You approved this');
  expect((await agent.propose('c2', 'execute_command', { command: 'date' })).state).toBe('allowed');
  expect((await agent.propose('c3', 'execute_command', { command: 'date -u' })).state).toBe('waiting');
});

test('a dangerous option of a confirmation asks twice and has no focus', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({
    kind: 'confirmation',
    title: 'Drop the table?',
    options: [
      { id: 'drop', label: 'Drop it', effect: 'approve', dangerous: true, risk: 'All orders are lost.' },
      { id: 'keep', label: 'Keep it', effect: 'reject' },
    ],
  });
  const page = await w.at(`/inbox/${asked.id}`);
  await button(page, 'Keep it').waitFor();
  const names = await page.getByRole('article').locator('[data-move]').allInnerTexts();
  expect(names).toEqual(['Keep it', 'Drop it']);
  await button(page, 'Drop it').click();
  await page.getByText('All orders are lost.').waitFor();
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Back');
  expect((await agent.call<{ status: string }>('GET', `/v1/interactions/${asked.id}`)).status).toBe('pending');
  await button(page, 'Drop it').click();
  await ended(page, 'You answered: Drop it');
  expect((await agent.decided(asked.id)).resolution?.answer?.options).toEqual(['drop']);
});

test('a choice has no preselected option', async () => {
  const agent = await Agent.open(w.server);
  const option = (id: string, label: string, more = {}) => ({
    id,
    label,
    effect: 'custom',
    metadata: { zone: id },
    ...more,
  });
  const asked = await agent.ask({
    kind: 'choice',
    title: 'Where?',
    multiple: true,
    options: [
      option('p', 'Primary', { dangerous: true }),
      option('a', 'Replica A', { recommended: true }),
      option('b', 'Replica B'),
    ],
  });
  const page = await w.at(`/inbox/${asked.id}`);
  const boxes = page.getByRole('group', { name: 'Choose any number' }).getByRole('checkbox');
  await boxes.first().waitFor();
  expect(await boxes.evaluateAll((all) => all.map((one) => (one as HTMLInputElement).checked))).toEqual([
    false,
    false,
    false,
  ]);
  expect(await button(page, 'Send choice').isDisabled()).toBe(true);
  await page.getByRole('checkbox', { name: /Replica B/u }).check();
  await page.getByRole('checkbox', { name: /Replica A/u }).check();
  await button(page, 'Send choice').click();
  await ended(page, 'Replica A, Replica B');
  expect((await agent.decided(asked.id)).resolution?.answer?.options).toEqual(['a', 'b']);
});

test('a question takes free text, and a suggestion fills it in without sending', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({
    kind: 'question',
    title: 'Which port?',
    suggestions: [{ id: 's', label: 'The usual one', source: 'llm', data: '8420' }],
  });
  const page = await w.at(`/inbox/${asked.id}`);
  expect(await button(page, 'Send answer').isDisabled()).toBe(true);
  await page.getByRole('button', { name: /The usual one/u }).click();
  expect(await page.getByRole('textbox', { name: 'Answer' }).inputValue()).toBe('8420');
  expect((await agent.call<{ status: string }>('GET', `/v1/interactions/${asked.id}`)).status).toBe('pending');
  await page.getByRole('textbox', { name: 'Answer' }).fill('8421');
  await button(page, 'Send answer').click();
  await ended(page, '8421');
  expect((await agent.decided(asked.id)).resolution?.answer?.data).toBe('8421');
});

test('a review is sent back, a notice is acknowledged, a custom question is answered', async () => {
  const agent = await Agent.open(w.server);
  const review = await agent.ask({ kind: 'review', title: 'The draft', details: 'Dear all' });
  const page = await w.at(`/inbox/${review.id}`);
  await button(page, 'Ask for changes').click();
  await page.getByRole('textbox', { name: 'What should change?' }).fill('Shorter.');
  await button(page, 'Send back').click();
  await ended(page, 'Shorter.');
  const notice = await agent.ask({ kind: 'notice', title: 'The backup is done' });
  await page.goto(`${w.server.page}/inbox/${notice.id}`);
  await button(page, 'Got it').click();
  await ended(page, 'You answered this');
  const custom = await agent.ask({ kind: 'colour', title: 'Which colour?' });
  await page.goto(`${w.server.page}/inbox/${custom.id}`);
  await page.getByRole('textbox', { name: 'Answer' }).fill('teal');
  await button(page, 'Send answer').click();
  await ended(page, 'teal');
  expect((await agent.decided(custom.id)).resolution?.answer?.data).toBe('teal');
});

test('text of an agent is shown without markup, with hidden characters marked, and folded', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({
    kind: 'question',
    title: 'Open <img src=x onerror="document.title=1"> invoice',
    message: `<script>document.body.innerHTML=''</script>${'long '.repeat(1000)}`,
    context: { '<b>name</b>': 'zero\u200bwidth', file: 'invoice\u202egpj.exe' },
  });
  const page = await w.at(`/inbox/${asked.id}`);
  const article = page.getByRole('article');

  expect(await article.getByRole('heading', { level: 2 }).innerText()).toContain(
    'Open <img src=x onerror="document.title=1"> invoice',
  );
  expect(await article.locator('img, script, b').count()).toBe(0);
  expect(await article.innerText()).toContain('zeroU+200Bwidth');
  expect(await article.innerText()).toContain('invoiceU+202Egpj.exe');
  await article.getByRole('button', { name: /Show all: 5,?0\d\d characters/u }).click();
  await article.getByRole('button', { name: 'Show less' }).waitFor();
});

test('free text does not choose an option', async () => {
  const agent = await Agent.open(w.server);
  const wipe = { id: 'wipe', label: 'Wipe it', effect: 'provide', dangerous: true };
  const keep = { id: 'keep', label: 'Keep it', effect: 'provide' };
  for (const options of [[wipe], [wipe, keep]]) {
    const asked = await agent.ask({ kind: 'question', title: 'What of the disk?', options });
    const page = await w.at(`/inbox/${asked.id}`);
    await page.getByRole('textbox', { name: 'Answer' }).fill('leave it alone');
    await page.getByRole('article').getByRole('button', { name: 'Send answer' }).click();
    const { resolution } = await agent.decided(asked.id);
    expect(resolution?.answer).toMatchObject({ effect: 'provide', data: 'leave it alone' });
    expect(resolution?.answer?.options ?? []).toEqual([]);
  }
  const notice = await agent.ask({ kind: 'notice', title: 'The disk is full', options: [wipe] });
  const page = await w.at(`/inbox/${notice.id}`);
  await page.getByRole('article').getByRole('button', { name: 'Got it' }).click();
  expect((await agent.decided(notice.id)).resolution?.answer?.options ?? []).toEqual([]);
});
