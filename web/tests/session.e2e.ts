import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

const w = world();

test('the timeline grows as the agent works, and its question is answered in place', async () => {
  const agent = await Agent.open(w.server, 'Tidy the repository', { input: { branch: 'main' } });
  const page = await w.at(`/sessions/${agent.session}`);
  await page.getByRole('heading', { level: 1, name: 'Tidy the repository' }).waitFor();
  await page.getByText('main', { exact: true }).waitFor();
  const timeline = page.getByRole('list').filter({ hasText: 'Session started' });
  await agent.propose('read', 'read_file', { path: 'README.md' });
  await timeline.getByText('Allowed').waitFor();
  await agent.run('read', { lines: 12 });
  await timeline.getByText('Done').waitFor();
  await agent.propose('rm', 'delete_file', { path: 'old.txt' });
  const card = page.getByRole('article');
  await card.getByRole('button', { name: 'Approve', exact: true }).click();
  await timeline.getByText('Answered: approved').waitFor();
  await card.getByRole('status').filter({ hasText: 'You approved this' }).waitFor();
  expect(await card.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0);
  await agent.run('rm', 'gone');
  await timeline.getByText('Done').nth(1).waitFor();
});

test('a question in its session shows everything that its own page shows', async () => {
  const agent = await Agent.open(w.server, 'All the grounds');
  await agent.propose('push', 'execute_command', { command: 'git push' }, { context: { ticket: 'OPS-7' } });
  const asked = await agent.ask({ kind: 'confirmation', title: 'Send it?', details: 'It goes to 4,000 people.' });
  const page = await w.at(`/sessions/${agent.session}`);
  const card = page.getByRole('article').first();
  await card.getByText('OPS-7').waitFor();
  await card.getByText('Rule', { exact: true }).waitFor();
  await page.locator('summary', { hasText: 'Send it?' }).click();
  const other = page.locator('article', { has: page.locator(`#title-${asked.id}`) });
  await other.getByText('It goes to 4,000 people.').waitFor();
  await other.getByText('operators and administrators').waitFor();
});

test('an answer of another person moves neither its question nor the text in the next one', async () => {
  const agent = await Agent.open(w.server, 'Two questions');
  const first = await agent.ask({ kind: 'question', title: 'Which branch?' });
  await agent.ask({ kind: 'question', title: 'Which day?' });
  const page = await w.at(`/sessions/${agent.session}`);
  await page.locator('summary', { hasText: 'Which day?' }).click();
  const next = page.getByRole('article').filter({ hasText: 'Which day?' });
  await next.getByRole('textbox', { name: 'Answer' }).fill('Thursday');
  await fetch(`${w.server.address}/v1/interactions/${first.id}/answer`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${w.server.keys.get('bob')}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ effect: 'provide', data: 'main' }),
  });
  const over = page.getByRole('article').filter({ hasText: 'Which branch?' });
  await over.getByRole('status').filter({ hasText: 'Answered by bob' }).waitFor();
  expect(await next.getByRole('textbox', { name: 'Answer' }).inputValue()).toBe('Thursday');
  await next.getByRole('button', { name: 'Send answer' }).click();
  await next.getByRole('status').filter({ hasText: 'You answered this' }).waitFor();
});

test('a session is paused and waiting independently, and can be resumed and cancelled', async () => {
  const agent = await Agent.open(w.server, 'Long work');
  const asked = await agent.ask({ kind: 'question', title: 'Go on?' });
  const page = await w.at(`/sessions/${agent.session}`);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('textbox', { name: /Reason/u }).fill('Lunch');
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Session paused').waitFor();
  const read = () =>
    agent.call<{ paused: boolean; waiting_on: number; status: string }>('GET', `/v1/sessions/${agent.session}`);
  expect(await read()).toMatchObject({ paused: true, waiting_on: 1 });
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
  await page.getByText('Session resumed').waitFor();
  expect(await read()).toMatchObject({ paused: false, waiting_on: 1 });
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('textbox', { name: /Reason/u }).fill('Not needed any more');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Session cancelled').waitFor();
  expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
  expect((await agent.decided(asked.id)).resolution).toMatchObject({
    status: 'cancelled',
    reason: 'Not needed any more',
  });
});

test('the list of sessions is filtered by the URL', async () => {
  const agent = await Agent.open(w.server, 'Waiting for somebody');
  await agent.ask({ kind: 'question', title: 'Anybody?' });
  await Agent.open(w.server, 'Just running');
  const page = await w.at('/sessions?status=waiting_user_input');
  await page.getByRole('link', { name: 'Waiting for somebody' }).waitFor();
  expect(await page.getByRole('link', { name: 'Just running' }).count()).toBe(0);
  await page.getByRole('combobox', { name: 'Status' }).selectOption('');
  await page.getByRole('link', { name: 'Just running' }).waitFor();
  await page.getByRole('link', { name: 'Waiting for somebody' }).click();
  await page.getByRole('heading', { level: 3, name: 'Anybody?' }).waitFor();
});

test('a long session shows its last events with their arguments, and earlier ones on request', async () => {
  const agent = await Agent.open(w.server, 'A long story');
  for (let n = 0; n < 150; n += 1) await agent.propose(`r${n}`, 'read_file', { path: `/srv/file-${n}.txt` });
  const asked = await agent.ask({ kind: 'confirmation', title: 'After all that' });
  const page = await w.at(`/sessions/${agent.session}`);
  const entries = page.locator('ol > li');
  await page.getByText('/srv/file-149.txt').waitFor();
  expect(await page.getByText('Session started').count()).toBe(0);
  expect(await entries.count()).toBe(60);
  await page.getByRole('button', { name: /Show 9\d earlier events/u }).click();
  await page.getByText('/srv/file-40.txt').waitFor();
  await page.getByRole('button', { name: /Show 3\d earlier events/u }).click();
  await page.getByText('Session started').waitFor();
  await page.getByText('/srv/file-0.txt').waitFor();
  expect(await page.getByRole('button', { name: /Show \d+ earlier/u }).count()).toBe(0);
  await page.goto(`${w.server.page}/inbox/${asked.id}`);
  const before = page.getByRole('region', { name: 'Before this question' }).getByRole('listitem');
  await before.first().waitFor();
  await expect
    .poll(() => before.allInnerTexts())
    .toEqual(Array.from({ length: 6 }, () => expect.stringMatching(/Allowed read_file.*file-14\d\.txt/su)));
});

test('events before a question are shown regardless of the number of later events', async () => {
  const agent = await Agent.open(w.server, 'An old story');
  const reads = (from: number, to: number) =>
    Promise.all(
      Array.from({ length: to - from }, (_, n) =>
        agent.propose(`r${from + n}`, 'read_file', { path: `/srv/file-${from + n}.txt` }),
      ),
    );
  await reads(0, 8);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Long ago' });
  for (let n = 100; n < 1400; n += 50) await reads(n, n + 50);
  const page = await w.at(`/inbox/${asked.id}`);
  const before = page.getByRole('region', { name: 'Before this question' }).getByRole('listitem');
  await before.first().waitFor();
  await expect
    .poll(() => before.allInnerTexts())
    .toEqual(Array.from({ length: 6 }, () => expect.stringMatching(/Allowed read_file.*file-[0-7]\.txt/su)));
  await page.getByText('History: 1', { exact: false }).waitFor();
});

test('a shortcut applies only to the question that has the focus', async () => {
  const agent = await Agent.open(w.server, 'Two at once');
  await agent.propose('first', 'execute_command', { command: 'echo first' });
  await agent.propose('second', 'execute_command', { command: 'echo second' });
  const page = await w.at(`/sessions/${agent.session}`);
  const first = page.getByRole('article').filter({ hasText: 'echo first' });
  await first.getByRole('button', { name: 'Approve', exact: true }).waitFor();
  await page.locator('summary', { hasText: 'echo second' }).click();
  const second = page.getByRole('article').filter({ hasText: 'echo second' });
  await second.getByRole('button', { name: 'Reject', exact: true }).waitFor();
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('r');
  expect(await page.getByRole('group', { name: 'Reject' }).count()).toBe(0);
  await second.getByRole('button', { name: 'Reject', exact: true }).focus();
  await page.keyboard.press('a');
  await page.keyboard.press('Enter');
  await second.getByRole('status').filter({ hasText: 'You approved this' }).waitFor();
  // A key press with the focus in the answered question does not answer the other one.
  await page.keyboard.press('a');
  await page.keyboard.press('Enter');
  expect([(await agent.action('first')).state, (await agent.action('second')).state]).toEqual(['waiting', 'allowed']);
});

test('each of 60 open questions of a session can be reached', async () => {
  const agent = await Agent.open(w.server, 'Sixty questions');
  for (let n = 1; n <= 60; n += 1) await agent.ask({ kind: 'question', title: `Question ${n}.` });
  const page = await w.at(`/sessions/${agent.session}`);
  await page.getByRole('heading', { name: '60 open questions' }).waitFor();
  expect(await page.locator('summary', { hasText: 'Question 60.' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.locator('summary', { hasText: 'Question 60.' }).click();
  const last = page.getByRole('article').filter({ hasText: 'Question 60.' });
  await last.getByRole('textbox', { name: 'Answer' }).fill('yes');
  await last.getByRole('button', { name: 'Send answer' }).click();
  await last.getByRole('status').filter({ hasText: 'You answered this' }).waitFor();
});

test('a change during the first load of a page is shown on it', async () => {
  const agent = await Agent.open(w.server, 'Slow to read');
  const asked = await agent.ask({ kind: 'confirmation', title: 'Go?' });
  const page = await w.at('/insights');
  let answered = false;
  await page.route(`**/v1/interactions/${asked.id}`, async (route) => {
    const reply = await route.fetch();
    // The question is answered after the server prepared its response and before the response arrives.
    if (!answered) {
      answered = true;
      await fetch(`${w.server.address}/v1/interactions/${asked.id}/answer`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${w.server.keys.get('bob')}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ effect: 'approve' }),
      });
      await expect.poll(() => page.getByRole('link', { name: /Inbox/u }).innerText()).not.toContain('1');
    }
    await route.fulfill({ response: reply });
  });
  await page.goto(`${w.server.page}/inbox/${asked.id}`);
  await page.getByRole('article').getByRole('status').filter({ hasText: 'bob' }).waitFor();
});
