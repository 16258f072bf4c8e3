import { beforeAll, expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

const w = world();

beforeAll(() => w.server.password('alice', 'correct horse battery'));

test('a person who is not signed in gets the sign-in page and then the requested page', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Behind the door' });
  const page = await w.at(`/inbox/${asked.id}`, { user: 'nobody' });
  await page.getByRole('heading', { name: 'Sign in to Holdpoint' }).waitFor();
  await page.getByRole('textbox', { name: 'User name' }).fill('alice');
  await page.getByLabel('Password').fill('wrong wrong wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText(/user name or password is wrong/u).waitFor();
  await page.getByLabel('Password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 2, name: 'Behind the door' }).waitFor();
  expect(await page.evaluate(() => document.cookie)).toBe('');
  await page.getByRole('button', { name: 'Account of alice' }).first().click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Holdpoint' }).waitFor();
  await page.goto(`${w.server.page}/inbox`);
  await page.getByRole('heading', { name: 'Sign in to Holdpoint' }).waitFor();
});

test('the first start prints a link that signs the first administrator in once', async () => {
  await expect.poll(() => w.server.said).toMatch(/sign-in#token=/u);
  const link = /\/sign-in#token=\S+/u.exec(w.server.said)?.[0] ?? '';
  const page = await w.at(link, { user: 'nobody' });
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Account of admin' }).first().waitFor();
  await page.getByRole('link', { name: 'Audit' }).waitFor();
  const again = await w.at(link, { user: 'nobody' });
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.getByText(/the link was already used or has expired/u).waitFor();
});

test('a one-time link signs in on a click and is removed from the URL', async () => {
  const page = await w.at(w.server.link('bob'), { user: 'nobody' });
  await page.getByText(/one-time link/u).waitFor();
  await page.waitForFunction(() => location.hash === '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
});

test.each(['?next=', ''])('a one-time link on the sign-in page leads to the requested page (%s)', async (search) => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Behind the link' });
  const page = await w.at(`/inbox/${asked.id}`, { user: 'nobody' });
  await page.getByRole('textbox', { name: 'User name' }).waitFor();
  // Without a query the link changes only the fragment, so the page is not reloaded.
  if (search === '') await page.goto(`${w.server.page}/sign-in`);
  await page.getByRole('textbox', { name: 'User name' }).waitFor();
  await page.goto(w.server.page + w.server.link('bob'));
  await page.getByText(/one-time link/u).waitFor();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Behind the link' }).waitFor();
});

test('the return address never leads to another site', async () => {
  const page = await w.at('/sign-in?next=//evil.example/', { user: 'nobody' });
  await page.getByRole('textbox', { name: 'User name' }).fill('alice');
  await page.getByLabel('Password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${w.server.page}/inbox`);
});

test('a person who is signed out elsewhere gets the sign-in page and no further data', async () => {
  const page = await w.at('/inbox');
  await page.getByRole('img', { name: 'Live' }).first().waitFor();
  await page.context().clearCookies();
  const agent = await Agent.open(w.server);
  await agent.ask({ kind: 'question', title: 'Not for strangers' });
  await page.getByRole('heading', { name: 'Sign in to Holdpoint' }).waitFor();
  expect(await page.getByText('Not for strangers').count()).toBe(0);
});
