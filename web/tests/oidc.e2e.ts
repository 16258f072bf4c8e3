import { afterAll, beforeAll, expect, test } from 'vitest';
import { Agent } from './support/agent';
import { launch, leave, someone } from './support/browser';
import { Provider } from './support/provider';
import { Server } from './support/server';

const provider = new Provider();
let server: Server;
let browser: Awaited<ReturnType<typeof launch>>;

beforeAll(async () => {
  const words = await provider.start();
  server = await Server.start({ words });
  browser = await launch();
});

afterAll(async () => {
  await leave(browser);
  await server?.stop();
  await provider.stop();
});

test('an identity provider signs a person in with the role that it names', async () => {
  const { page, context } = await someone(browser, server, { user: 'nobody' });
  await page.goto(`${server.page}/inbox`);
  await page.getByRole('link', { name: 'Sign in with 127.0.0.1' }).click();
  await page.getByRole('link', { name: 'Let Olga in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
  await page.getByRole('button', { name: 'Account of Olga Ivanova' }).first().waitFor();
  await page.goto(`${server.page}/settings`);
  await page.getByText('operator', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Set password' }).count()).toBe(0);
  await context.close();
});

test('a sign-in through a provider leads to the requested page, also at the second try', async () => {
  const agent = await Agent.open(server);
  const asked = await agent.ask({ kind: 'confirmation', title: 'Behind the provider' });
  provider.role = 'florist';
  const { page, context } = await someone(browser, server, { user: 'nobody' });
  await page.goto(`${server.page}/inbox/${asked.id}`);
  const enter = async () => {
    await page.getByRole('link', { name: 'Sign in with 127.0.0.1' }).click();
    await page.getByRole('link', { name: 'Let Olga in' }).click();
  };
  await enter();
  await page.getByText('Your account has no role here.', { exact: false }).waitFor();
  provider.role = 'holdpoint-operator';
  await enter();
  await page.waitForURL(`**/inbox/${asked.id}`);
  await page.getByRole('heading', { name: 'Behind the provider' }).waitFor();
  expect(await page.evaluate(() => sessionStorage.getItem('holdpoint-next'))).toBe(null);
  await context.close();
});

test('a person to whom the provider gives no role sees a message on the sign-in page', async () => {
  provider.role = 'florist';
  const { page, context } = await someone(browser, server, { user: 'nobody' });
  await page.goto(`${server.page}/sign-in`);
  await page.getByRole('link', { name: 'Sign in with 127.0.0.1' }).click();
  await page.getByRole('link', { name: 'Let Olga in' }).click();
  await page.getByText('Your account has no role here.', { exact: false }).waitFor();
  await page.goto(`${server.page}/inbox`);
  await page.getByRole('heading', { name: 'Sign in to Holdpoint' }).waitFor();
  await context.close();
});

test('a sign-in through a provider in one tab applies to all tabs', async () => {
  provider.role = 'holdpoint-operator';
  const { page, context } = await someone(browser, server);
  await page.goto(`${server.page}/inbox`);
  await page.getByRole('button', { name: 'Account of alice' }).first().waitFor();
  const door = await context.newPage();
  await door.goto(`${server.page}/sign-in`);
  await door.getByRole('link', { name: 'Sign in with 127.0.0.1' }).click();
  await door.getByRole('link', { name: 'Let Olga in' }).click();
  await door.getByRole('button', { name: 'Account of Olga Ivanova' }).first().waitFor();
  await page.getByRole('button', { name: 'Account of Olga Ivanova' }).first().waitFor();
  await door.getByRole('button', { name: 'Account of Olga Ivanova' }).first().click();
  await door.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.waitForURL('**/sign-in?next=%2Finbox');
  await door.getByRole('link', { name: 'Sign in with 127.0.0.1' }).click();
  await door.getByRole('link', { name: 'Let Olga in' }).click();
  await page.waitForURL('**/inbox');
  await page.getByRole('button', { name: 'Account of Olga Ivanova' }).first().waitFor();
  await context.close();
});
