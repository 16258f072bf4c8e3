import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

const w = world();

/** An agent of another project of the same tenant. */
async function elsewhere(): Promise<Agent> {
  w.server.keys.set('night-bot', w.server.key('night-bot', 'agent', '--project', 'nights'));
  const agent = new Agent(w.server, 'night-bot');
  agent.session = (await agent.post<{ id: string }>('/v1/sessions', { agent: 'night-bot' })).id;
  return agent;
}

test('a member of two projects sees only the chosen project', async () => {
  w.server.cli('users', 'create', 'carol', '--role', 'operator');
  w.server.cli('users', 'create', 'carol', '--role', 'viewer', '--project', 'nights');
  const days = await (await Agent.open(w.server)).ask({ kind: 'confirmation', title: 'By day' });
  const nights = await (await elsewhere()).ask({ kind: 'confirmation', title: 'By night' });
  const page = await w.at(w.server.link('carol'), { user: 'nobody' });
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'By day' }).waitFor();
  expect(await page.getByRole('link', { name: 'By night' }).count()).toBe(0);
  await page.goto(`${w.server.page}/inbox/${nights.id}`);
  await page.getByRole('heading', { name: 'Question not found' }).waitFor();
  await page.getByRole('button', { name: 'Account of carol' }).first().click();
  await page.getByRole('menuitemradio', { name: 'nights' }).click();
  await page.getByRole('link', { name: 'By night' }).waitFor();
  expect(await page.getByRole('link', { name: 'By day' }).count()).toBe(0);
  await page.goto(`${w.server.page}/inbox/${days.id}`);
  await page.getByRole('heading', { name: 'Question not found' }).waitFor();
  await page.goto(`${w.server.page}/settings`);
  await page.getByText('viewer', { exact: true }).waitFor();
});

test('a tab that switches to another project gets its events at once', async () => {
  w.server.cli('users', 'create', 'dora', '--role', 'operator');
  w.server.cli('users', 'create', 'dora', '--role', 'operator', '--project', 'nights');
  const agent = await elsewhere();
  const page = await w.at(w.server.link('dora'), { user: 'nobody' });
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('img', { name: 'Live' }).first().waitFor();
  const other = await page.context().newPage();
  await other.goto(`${w.server.page}/inbox`);
  await other.getByRole('img', { name: 'Live' }).first().waitFor();
  await other.getByRole('button', { name: 'Account of dora' }).first().click();
  await other.getByRole('menuitemradio', { name: 'nights' }).click();
  await other.getByText('nights', { exact: true }).first().waitFor();
  await other.getByRole('img', { name: 'Live' }).first().waitFor();
  await agent.ask({ kind: 'confirmation', title: 'Heard by night' });
  await other.getByRole('link', { name: 'Heard by night' }).waitFor();
  // All tabs share the cookie, so the first tab switches to the other project as well.
  await page.getByText('nights', { exact: true }).first().waitFor();
  await page.getByRole('link', { name: 'Heard by night' }).waitFor();
  await agent.ask({ kind: 'confirmation', title: 'Heard in both' });
  for (const tab of [page, other]) await tab.getByRole('link', { name: 'Heard in both' }).waitFor();
});
