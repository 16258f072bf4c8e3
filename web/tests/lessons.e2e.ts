import { expect, test } from 'vitest';
import type { Interaction } from '@/api/types';
import { Agent } from './support/agent';
import { world } from './support/world';

// Mistakes of earlier approval systems, one test each.

const THINKER = `
name = "thinker"
version = "1"
tools = ["ask_user"]

[[allowed_suggestions]]
id = "usual"
parameters = { port = [8420] }

[model]
provider = "scripted"

[[model.script.turns]]
say = "One moment."
calls = [{ tool = "ask_user_clarify", arguments = { question = "Which port?", suggestions = [
  { id = "usual", label = "The usual one", data = { port = 8420 } },
  { id = "usual", label = "An odd one", data = { port = 22 } },
  { id = "evil", label = "Any", data = { port = 1 } },
] } }]

[[model.script.turns]]
say = "Thanks."
again = true
`;

const w = world({ agents: { 'thinker.toml': THINKER } });

const post = (path: string, user: string, body: unknown) =>
  fetch(w.server.address + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${w.server.keys.get(user)}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

test('after a reconnection an answered question is not shown as open, and nothing is shown twice', async () => {
  const agent = await Agent.open(w.server, 'Reconnecting');
  const asked = await agent.ask({ kind: 'confirmation', title: 'Answered in the dark' });
  const page = await w.at(`/inbox/${asked.id}`);
  await page.getByRole('img', { name: 'Live' }).first().waitFor();
  await page.route('**/v1/events/stream', (route) => route.abort());
  await w.server.kill();
  await page.getByRole('img', { name: 'Not connected' }).first().waitFor();
  await w.server.run();
  await post(`/v1/interactions/${asked.id}/answer`, 'bob', { option: 'confirm' });
  await agent.ask({ kind: 'notice', title: 'Asked in the dark' });
  await page.unroute('**/v1/events/stream');
  await page.getByRole('article').getByRole('status').filter({ hasText: 'bob: Confirm' }).waitFor();
  await page.getByRole('link', { name: 'Asked in the dark' }).waitFor();
  expect(await page.getByRole('link', { name: 'Answered in the dark' }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Asked in the dark' }).count()).toBe(1);
  expect(await page.getByRole('button', { name: 'Confirm' }).count()).toBe(0);
});

test('a timeline continues after a restart with each event once and in order', async () => {
  const agent = await Agent.open(w.server, 'Numbers');
  const page = await w.at(`/sessions/${agent.session}`);
  const timeline = page.getByRole('list').filter({ hasText: 'Session started' }).getByRole('listitem');
  await agent.propose('c1', 'read_file', { path: 'a' });
  await timeline.nth(1).waitFor();
  await w.server.kill();
  await w.server.run();
  await agent.propose('c2', 'read_file', { path: 'b' });
  await timeline.nth(2).waitFor();
  const { last_seq } = await agent.call<{ last_seq: number }>('GET', `/v1/sessions/${agent.session}`);
  expect(await timeline.count()).toBe(last_seq);
  expect(await timeline.allInnerTexts()).toEqual([
    expect.stringContaining('Session started'),
    expect.stringContaining('read_file'),
    expect.stringContaining('read_file'),
  ]);
});

test('every open question of a session is shown, the oldest first, and each is answered alone', async () => {
  const agent = await Agent.open(w.server, 'Two at once');
  const first = await agent.ask({ kind: 'confirmation', title: 'The first of two' });
  const second = await agent.ask({ kind: 'confirmation', title: 'The second of two' });
  const page = await w.at(`/sessions/${agent.session}`);
  await page.getByText('2 open questions').waitFor();
  const order = await page.getByText(/^The (first|second) of two$/u).allInnerTexts();
  expect([...new Set(order)].slice(0, 2)).toEqual(['The first of two', 'The second of two']);
  await page.locator('summary', { hasText: 'The second of two' }).click();
  const card = page.getByRole('article').filter({ hasText: 'The second of two' });
  await card.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('1 open question', { exact: true }).last().waitFor();
  expect((await agent.decided(second.id)).status).toBe('answered');
  const open = await agent.call<Interaction>('GET', `/v1/interactions/${first.id}`);
  expect(open.status).toBe('pending');
});

test('a stream is a GET with the cookie, and an answer names its option and no channel', async () => {
  const agent = await Agent.open(w.server, 'Wires');
  const asked = await agent.ask({ kind: 'confirmation', title: 'How is it sent?' });
  const page = await w.at('/sign-in');
  const sent: { method: string; url: string; body: string | null }[] = [];
  page.on('request', (request) =>
    sent.push({ method: request.method(), url: request.url(), body: request.postData() }),
  );
  await page.goto(`${w.server.page}/inbox/${asked.id}`);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You answered: Confirm' }).waitFor();
  const stream = sent.find(({ url }) => url.includes('/events/stream'));
  expect(stream).toEqual({ method: 'GET', url: `${w.server.page}/v1/events/stream`, body: null });
  const answer = sent.find(({ url }) => url.endsWith('/answer'));
  expect(JSON.parse(answer?.body ?? '')).toEqual({ option: 'confirm' });
});

test('pausing does not end the live view', async () => {
  const agent = await Agent.open(w.server, 'Paused, not ended');
  const page = await w.at(`/sessions/${agent.session}`);
  await page.getByText('Session started').waitFor();
  await post(`/v1/sessions/${agent.session}/control`, 'bob', { command: 'pause' });
  await page.getByText('Session paused').waitFor();
  await post(`/v1/sessions/${agent.session}/control`, 'bob', { command: 'resume' });
  await page.getByText('Session resumed').waitFor();
});

test('in the last minute the countdown warns', async () => {
  const agent = await Agent.open(w.server, 'Clocks');
  const calm = await agent.ask({ kind: 'confirmation', title: 'Plenty of time', deadline_seconds: 86_000 });
  const last = await agent.ask({ kind: 'confirmation', title: 'Hardly any time', deadline_seconds: 55 });
  const page = await w.at('/inbox');
  const colour = (id: string) =>
    page
      .locator(`[data-question="${id}"]`)
      .getByRole('timer')
      .evaluate((one) => getComputedStyle(one).color);
  const danger = await page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = 'var(--danger-ink)';
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  });
  expect(await colour(last.id)).toBe(danger);
  expect(await colour(calm.id)).not.toBe(danger);
});

test('suggestions of a model are filtered by id and parameters, and dropped ones are listed', async () => {
  const reply = await post('/v1/sessions', 'alice', { agent: 'thinker', input: 'Find a port.' });
  const { id } = (await reply.json()) as { id: string };
  const page = await w.at(`/sessions/${id}`);
  const card = page.getByRole('article').filter({ hasText: 'Which port?' });
  await card.getByRole('button', { name: /The usual one/u }).waitFor();
  expect(await card.getByRole('button', { name: /An odd one|Any/u }).count()).toBe(0);
  await card.getByText('2 suggestions left out').click();
  await card.getByText('evil', { exact: true }).waitFor();
  expect(await page.getByText('suggestions.dropped').count()).toBe(0);
});

test('the list of sessions comes in pages', async () => {
  for (let batch = 0; batch < 6; batch += 1)
    await Promise.all(Array.from({ length: 9 }, (_, n) => Agent.open(w.server, `Old ${batch * 9 + n}`)));
  const page = await w.at('/sessions');
  const rows = page.getByRole('main').getByRole('listitem');
  await rows.nth(49).waitFor();
  expect(await rows.count()).toBe(50);
  await page.getByRole('button', { name: 'Show more' }).click();
  await rows.nth(53).waitFor();
});

test('the details of an internal error are not shown', async () => {
  const agent = await Agent.open(w.server, 'Insides');
  const asked = await agent.ask({ kind: 'confirmation', title: 'Does it leak?' });
  const page = await w.at(`/inbox/${asked.id}`);
  const body = {
    code: 'internal',
    title: 'Internal error',
    detail: 'NullPointerException at Store.java:42',
    status: 500,
  };
  await page.route('**/answer', (route) =>
    route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(body) }),
  );
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Something went wrong on the server. Try again.').waitFor();
  expect(await page.getByText(/NullPointer/u).count()).toBe(0);
  expect(await page.getByRole('article').getByText('Open', { exact: true }).count()).toBe(1);
});
