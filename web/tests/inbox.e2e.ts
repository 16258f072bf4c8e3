import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

const w = world();

test('shortcuts move, select, open and answer, and ? lists them', async () => {
  const agent = await Agent.open(w.server);
  for (const title of ['First', 'Second', 'Third']) await agent.ask({ kind: 'confirmation', title });
  const page = await w.at('/inbox');
  await page.getByRole('link', { name: 'First' }).waitFor();
  await page.keyboard.press('j');
  await page.getByRole('heading', { level: 2, name: 'First' }).waitFor();
  await page.keyboard.press('j');
  await page.getByRole('heading', { level: 2, name: 'Second' }).waitFor();
  await page.keyboard.press('k');
  await page.getByRole('heading', { level: 2, name: 'First' }).waitFor();
  await page.keyboard.press('a');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Confirm');
  expect(await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle)).toBe('solid');
  await page.keyboard.press('Enter');
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You answered: Confirm' }).waitFor();
  await page.getByRole('link', { name: 'First' }).waitFor({ state: 'detached' });
  await page.keyboard.press('j');
  await page.getByRole('heading', { level: 2, name: 'Second' }).waitFor();
  await page.keyboard.press('r');
  await page.keyboard.type('no ?');
  expect(await page.getByRole('textbox', { name: /Reason/u }).inputValue()).toBe('no ?');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('article').getByRole('status').filter({ hasText: 'no ?' }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('filters are in the URL and survive a reload', async () => {
  const agent = await Agent.open(w.server);
  await agent.ask({ kind: 'notice', title: 'Alpha notice' });
  await agent.ask({ kind: 'question', title: 'Alpha question' });
  const page = await w.at('/inbox');
  await page.getByRole('searchbox', { name: 'Search questions' }).fill('alpha');
  await page.waitForURL(/q=alpha/u);
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('notice');
  await page.waitForURL(/kind=notice/u);
  await page.getByRole('link', { name: 'Alpha question' }).waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('link', { name: 'Alpha notice' }).waitFor();
  expect(await page.getByRole('link', { name: /Alpha/u }).count()).toBe(1);
  await page.getByRole('combobox', { name: 'Status' }).selectOption('expired');
  await page.getByRole('heading', { name: 'No questions match' }).waitFor();
  await page.getByRole('button', { name: 'Show all open questions' }).click();
  await page.getByRole('link', { name: 'Alpha question' }).waitFor();
});

test('questions can be sorted by nearest deadline, those without one last', async () => {
  const agent = await Agent.open(w.server, 'Deadlines');
  for (const [title, deadline_seconds] of [
    ['Due never', undefined],
    ['Due tomorrow', 86_400],
    ['Due soon', 600],
  ] as const)
    await agent.ask({ kind: 'review', title, deadline_seconds });
  const page = await w.at('/inbox?kind=review');
  const titles = () => page.locator('[data-question] a').allInnerTexts();
  await expect.poll(titles).toEqual(['Due never', 'Due tomorrow', 'Due soon']);
  await page.getByRole('combobox', { name: 'Order' }).selectOption('deadline');
  await page.waitForURL(/sort=deadline/u);
  await expect.poll(titles).toEqual(['Due soon', 'Due tomorrow', 'Due never']);
});

test('a claim is shown to others, who cannot answer until it is released', async () => {
  const agent = await Agent.open(w.server, 'Claims');
  const asked = await agent.ask({ kind: 'confirmation', title: 'Mine or yours?' });
  const alice = await w.at(`/inbox/${asked.id}`);
  const bob = await w.at(`/inbox/${asked.id}`, { user: 'bob' });
  await bob.getByRole('button', { name: 'Confirm' }).waitFor();
  await alice.getByRole('button', { name: 'Claim' }).click();
  await bob.getByText('alice is working on this', { exact: false }).waitFor();
  await bob.locator(`[data-question="${asked.id}"]`).getByText('alice', { exact: true }).waitFor();
  expect(await bob.getByRole('button', { name: 'Confirm' }).isDisabled()).toBe(true);
  await alice.getByRole('button', { name: 'Release' }).click();
  await expect.poll(() => bob.getByRole('button', { name: 'Confirm' }).isEnabled()).toBe(true);
  await bob.getByRole('button', { name: 'Confirm' }).click();
  await alice.getByRole('article').getByRole('status').filter({ hasText: 'bob: Confirm' }).waitFor();
});

test('a batch shows each result and leaves out questions that cannot be answered together', async () => {
  const agent = await Agent.open(w.server, 'Batch');
  const calls = await Promise.all(
    [1, 2, 3].map((n) => agent.propose(`c${n}`, 'execute_command', { command: `make step-${n}` })),
  );
  const form = await agent.ask({ kind: 'question', title: 'Words, please' });
  const page = await w.at('/inbox');
  await page.getByRole('link', { name: 'Words, please' }).waitFor();
  for (const title of ['Run execute_command', 'Words, please']) {
    for (const box of await page.getByRole('checkbox', { name: `Select “${title}”` }).all()) await box.check();
  }
  await page.getByText('4 selected').waitFor();
  // Another person answers one of them in the meantime.
  await page.getByRole('button', { name: 'Reject…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: /Reason/u }).fill('Not today.');
  const bob = w.server.keys.get('bob');
  await fetch(`${w.server.address}/v1/interactions/${calls[1]?.interaction}/answer`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${bob}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ option: 'approve' }),
  });
  await dialog.getByRole('button', { name: /^Reject \d/u }).click();
  await dialog.getByText('This question is already closed.').waitFor();
  expect(await dialog.getByText('rejected', { exact: true }).count()).toBe(3);
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect((await agent.action('c1')).feedback).toBe('Not today.');
  expect((await agent.action('c2')).state).toBe('allowed');
  expect((await agent.decided(form.id)).resolution?.answer?.effect).toBe('reject');
});

test.each([
  ['ru-RU', 'ru', 'Входящие', 'Одобрить', 'Отклонить'],
  ['zh-CN', 'zh-Hans', '收件箱', '批准', '拒绝'],
])('%s: the page starts in this language and offers English', async (locale, lang, inbox, approve, reject) => {
  const agent = await Agent.open(w.server);
  const call = await agent.propose('c1', 'execute_command', { command: 'uptime' });
  const page = await w.at(`/inbox/${call.interaction}`, { locale });
  await page.getByRole('heading', { level: 1, name: inbox }).waitFor();
  expect(await page.getAttribute('html', 'lang')).toBe(lang);
  await page.getByRole('button', { name: approve, exact: true }).waitFor();
  await page.getByRole('button', { name: reject, exact: true }).click();
  await page.getByRole('button', { name: /alice/u }).first().click();
  await page.getByRole('menuitemradio', { name: 'English' }).click();
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
});

test('a question of another project and an invalid id are not found', async () => {
  const other = w.server.key('mallory', 'agent', '--tenant', 'elsewhere');
  w.server.keys.set('mallory', other);
  const agent = new Agent(w.server, 'mallory');
  const session = await agent.post<{ id: string }>('/v1/sessions', { agent: 'mallory' });
  agent.session = session.id;
  const asked = await agent.ask({ kind: 'question', title: 'Foreign' });
  for (const id of [asked.id, 'int_nonsense']) {
    const page = await w.at(`/inbox/${id}`);
    await page.getByRole('heading', { name: 'Question not found' }).waitFor();
    expect(await page.getByText('Foreign').count()).toBe(0);
  }
});

test('a batch shows folded text with its length and every argument', async () => {
  const agent = await Agent.open(w.server, 'Long batch');
  await agent.propose('long', 'execute_command', { command: `echo ${'x'.repeat(1300)} ; rm -rf /srv/end` });
  await agent.propose('many', 'move_file', { a: '1', b: '2', c: '3', d: '4', to: '/etc/cron.d/evil' });
  const page = await w.at('/inbox');
  for (const hasText of ['echo xxxx', 'move_file 1 2 3'])
    await page.locator('[data-question]', { hasText }).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Approve…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog
    .getByRole('button', { name: /Show all: 13\d\d characters/u })
    .first()
    .click();
  await dialog
    .getByText(/rm -rf \/srv\/end/u)
    .first()
    .waitFor();
  await dialog.getByText('/etc/cron.d/evil').first().waitFor();
  await dialog.getByRole('button', { name: 'Back' }).click();
});

test('a row shows the command and the number of arguments that it leaves out', async () => {
  const agent = await Agent.open(w.server, 'A file beside it');
  await agent.propose('wipe', 'execute_command', { command: 'rm -rf /srv/prod', path: 'README.md', content: 'hello' });
  const page = await w.at('/inbox');
  const row = page.locator('[data-question]', { hasText: 'rm -rf /srv/prod' });
  await row.getByText('and 2 more arguments').waitFor();
  await row.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Approve…' }).click();
  const dialog = page.getByRole('dialog');
  for (const text of ['execute_command', 'rm -rf /srv/prod', 'README.md', 'hello'])
    await dialog.getByText(text, { exact: true }).first().waitFor();
});

test('the search finds a question by its call, its text, its session and its id', async () => {
  const agent = await Agent.open(w.server, 'Needles and PINS');
  const call = await agent.propose('needle', 'shift_needle', { path: '/srv/a', to: '/srv/needle-77' });
  const said = 'Но "СТОГ" в сообщении';
  const asked = await agent.ask({ kind: 'notice', title: 'Nothing here', message: said });
  const page = await w.at('/inbox');
  const box = page.getByRole('searchbox', { name: 'Search questions' });
  const notice = page.getByRole('link', { name: 'Nothing here' });
  const move = page.getByRole('link', { name: 'Run shift_needle' });
  const found = async (text: string, there: typeof move, gone: typeof move) => {
    await box.fill(text);
    await gone.waitFor({ state: 'detached' });
    await there.waitFor();
  };
  await notice.waitFor();
  await found('NEEDLE-77', move, notice);
  await found('"стог"', notice, move);
  await found('Shift_Needle', move, notice);
  await found(asked.id, notice, move);
  await found(call.interaction ?? '', move, notice);
  await box.fill('needles and pins');
  await notice.waitFor();
  await move.waitFor();
  expect(await page.getByRole('list', { name: 'Questions' }).getByRole('link').count()).toBe(2);
});
