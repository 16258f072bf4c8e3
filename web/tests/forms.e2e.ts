import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Agent } from './support/agent';
import { world } from './support/world';

const w = world();

const SCHEMA = {
  type: 'object',
  required: ['name', 'count', 'when', 'size'],
  properties: {
    name: { type: 'string', title: 'Name', minLength: 3 },
    count: { type: 'integer', title: 'Count', maximum: 10 },
    ratio: { type: 'number', title: 'Ratio' },
    size: { type: 'string', title: 'Size', enum: ['S', 'M', 'L'] },
    region: { type: 'string', title: 'Region', enum: ['a', 'b', 'c', 'd', 'e'] },
    tags: { type: 'array', title: 'Tags', uniqueItems: true, items: { type: 'string', enum: ['red', 'green'] } },
    loud: { type: 'boolean', title: 'Loud' },
    agree: { type: 'boolean', title: 'Agree', format: 'checkbox' },
    day: { type: 'string', format: 'date', title: 'Day' },
    when: { type: 'string', format: 'date-time', title: 'When' },
    note: { type: 'string', format: 'textarea', title: 'Note' },
    file: { type: 'string', format: 'data-url', title: 'File' },
    extra: { title: 'Extra' },
    place: {
      type: 'object',
      title: 'Place',
      required: ['city'],
      properties: { city: { type: 'string', title: 'City' } },
    },
    people: {
      type: 'array',
      title: 'People',
      items: { type: 'object', properties: { who: { type: 'string', title: 'Who' } } },
    },
  },
};

test('a form with every control shows errors at their fields and sends times with offset', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'form', title: 'Everything', schema: SCHEMA });
  const page = await w.at(`/inbox/${asked.id}`, { timezoneId: 'Europe/Berlin' });
  const form = page.getByRole('article').locator('form');
  await form.getByLabel('Name').fill('ab');
  const fields = await form.locator('[data-field]').evaluateAll((all) => all.map((one) => one.dataset.field ?? ''));
  const names = fields.map((id) => id.split('_').at(-1) ?? '').filter((name) => name in SCHEMA.properties);
  expect(names).toEqual(Object.keys(SCHEMA.properties));
  await form.getByLabel('Count').fill('11');
  expect(await form.getByRole('radio', { checked: true }).count()).toBe(0);
  await page.getByRole('button', { name: 'Send answer' }).click();
  await form.getByText('At least 3 characters.').waitFor();
  await form.getByText('At most 10.').waitFor();
  expect(await form.getByText('Required').count()).toBeGreaterThanOrEqual(2);
  await form.getByLabel('Name').fill('abc');
  await form.getByLabel('Count').fill('7');
  await form.getByLabel('Ratio').fill('0.5');
  await form.getByRole('radio', { name: 'M' }).check();
  await form.getByLabel('Region').selectOption({ label: 'c' });
  await form.getByRole('group', { name: 'Tags' }).getByRole('checkbox', { name: 'green' }).check();
  await form.getByRole('switch', { name: 'Loud' }).click();
  await form.getByRole('checkbox', { name: 'Agree' }).check();
  await form.getByLabel('Day').fill('2026-12-24');
  await form.getByLabel('When').fill('2026-12-24T18:30');
  await form.getByLabel('Note').fill('two\nlines');
  await form.getByLabel('File').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('hi') });
  await form.getByLabel('Extra').fill('{"any": [1, "thing"]}');
  await form.getByLabel('City').fill('Ulm');
  await form.getByRole('group', { name: 'People' }).getByRole('button', { name: 'Add' }).click();
  await form.getByLabel('Who').fill('dana');
  await page.getByRole('button', { name: 'Send answer' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You answered this' }).waitFor();
  expect((await agent.decided(asked.id)).resolution?.answer?.data).toEqual({
    name: 'abc',
    count: 7,
    ratio: 0.5,
    size: 'M',
    region: 'c',
    tags: ['green'],
    loud: true,
    agree: true,
    day: '2026-12-24',
    when: '2026-12-24T18:30:00+01:00',
    note: 'two\nlines',
    file: expect.stringMatching(/^data:text\/plain;.*base64,aGk=$/u),
    extra: { any: [1, 'thing'] },
    place: { city: 'Ulm' },
    people: [{ who: 'dana' }],
  });
});

test('an optional form is skipped without being filled in', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'form', title: 'Optional', required: false, schema: SCHEMA });
  const page = await w.at(`/inbox/${asked.id}`);
  await page.getByRole('button', { name: 'Skip' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'skipped' }).waitFor();
  expect((await agent.decided(asked.id)).resolution?.answer?.effect).toBe('skip');
});

test('the first option of a schema is not preselected', async () => {
  const agent = await Agent.open(w.server);
  const schema = {
    type: 'object',
    required: ['decision'],
    properties: {
      decision: {
        title: 'Decision',
        oneOf: [
          { const: 'approve', title: 'Approve' },
          { const: 'reject', title: 'Reject' },
        ],
      },
    },
  };
  const asked = await agent.ask({ kind: 'form', title: 'Decide', schema });
  const page = await w.at(`/inbox/${asked.id}`);
  await page.getByRole('button', { name: 'Send answer' }).click();
  await page.getByRole('article').locator('form [role=alert]').first().waitFor();
  expect((await agent.call<{ status: string }>('GET', `/v1/interactions/${asked.id}`)).status).toBe('pending');
});

test('a suggestion fills the form in, and a person sends it', async () => {
  const agent = await Agent.open(w.server);
  const schema = { type: 'object', required: ['city'], properties: { city: { type: 'string', title: 'City' } } };
  const asked = await agent.ask({
    kind: 'form',
    title: 'Where',
    schema,
    suggestions: [{ id: 'u', label: 'Ulm', source: 'rule', data: { city: 'Ulm' } }],
  });
  const page = await w.at(`/inbox/${asked.id}`);
  await page.getByRole('button', { name: /Ulm/u }).click();
  expect(await page.getByLabel('City').inputValue()).toBe('Ulm');
  await page.getByRole('button', { name: 'Send answer' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'Ulm' }).waitFor();
});

test('a secret is masked, reaches only the agent and is stored nowhere in the page', async () => {
  const value = 'hunter2-c0rrect-h0rse';
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({ kind: 'secret', title: 'A token', secrets: [{ name: 'API_TOKEN', label: 'Token' }] });
  const page = await w.at(`/inbox/${asked.id}`);
  const field = page.getByLabel('Token', { exact: true });
  expect(await field.getAttribute('type')).toBe('password');
  await page.getByRole('button', { name: 'Send answer' }).click();
  await page.getByText('Required').waitFor();
  await field.fill(value);
  await page.getByRole('button', { name: 'Send answer' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You answered this' }).waitFor();
  expect(await page.content()).not.toContain(value);
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(value);
  const taken = await agent.take<{ secrets: Record<string, string> }>(asked.id);
  expect(taken.secrets).toEqual({ API_TOKEN: value });
  for (const name of readdirSync(w.server.data)) {
    if (/\.db|sqlite/u.test(name)) expect(readFileSync(join(w.server.data, name)).includes(value)).toBe(false);
  }
});

test('a refused secret stays in its field with the error', async () => {
  const agent = await Agent.open(w.server);
  const asked = await agent.ask({
    kind: 'secret',
    title: 'Two tokens',
    secrets: [
      { name: 'ONE', label: 'First' },
      { name: 'TWO', label: 'Second' },
    ],
  });
  const page = await w.at(`/inbox/${asked.id}`);
  await page.route('**/answer', (route) =>
    route.fulfill({
      status: 422,
      contentType: 'application/problem+json',
      json: {
        code: 'answer_invalid',
        title: 'Invalid',
        status: 422,
        errors: [{ pointer: '/data/TWO', message: 'this is too short' }],
      },
    }),
  );
  await page.getByLabel('First', { exact: true }).fill('one-value');
  await page.getByLabel('Second', { exact: true }).fill('x');
  await page.getByRole('button', { name: 'Send answer' }).click();
  const second = page.getByLabel('Second', { exact: true });
  await page.locator('[aria-invalid=true]').waitFor();
  expect(await second.getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByLabel('First', { exact: true }).inputValue()).toBe('one-value');
  await page.unroute('**/answer');
  await second.fill('two-value');
  await page.getByRole('button', { name: 'Send answer' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You answered this' }).waitFor();
  expect((await agent.take<{ secrets: object }>(asked.id)).secrets).toEqual({ ONE: 'one-value', TWO: 'two-value' });
});

test('constants without a type are options, and long lists of arguments are folded', async () => {
  const agent = await Agent.open(w.server);
  const schema = {
    type: 'object',
    required: ['plan'],
    properties: {
      plan: {
        title: 'Plan',
        oneOf: [
          { const: 'a', title: 'The slow one' },
          { const: 'b', title: 'The quick one' },
        ],
      },
    },
  };
  const asked = await agent.ask({ kind: 'form', title: 'Which plan', schema });
  const page = await w.at(`/inbox/${asked.id}`);
  await page.getByRole('combobox', { name: 'Plan' }).selectOption({ label: 'The quick one' });
  await page.getByRole('button', { name: 'Send answer' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You answered this' }).waitFor();
  expect((await agent.decided(asked.id)).resolution?.answer?.data).toEqual({ plan: 'b' });
  const rows = Array.from({ length: 3000 }, (_, n) => n);
  const call = await agent.propose('many', 'import_rows', { rows, last: 'rm -rf /' });
  await page.goto(`${w.server.page}/inbox/${call.interaction}`);
  await page.getByRole('article').getByText('rm -rf /').waitFor();
  await page.getByRole('button', { name: 'Show all: 3000 items' }).click();
  await page.locator('dd', { hasText: /^2999$/u }).waitFor();
});

test('free and recursive parts of a schema are written as JSON', async () => {
  const agent = await Agent.open(w.server);
  const schema = {
    type: 'object',
    $defs: { node: { type: 'object', properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } } } },
    properties: {
      tree: { title: 'Tree', $ref: '#/$defs/node' },
      more: {
        title: 'More',
        oneOf: [
          { title: 'Text', type: 'string' },
          { title: 'Values', type: 'object' },
        ],
      },
    },
  };
  const asked = await agent.ask({ kind: 'form', title: 'What hangs where', schema });
  const page = await w.at(`/inbox/${asked.id}`);
  await page.getByRole('textbox', { name: 'name' }).fill('oak');
  await page.getByRole('textbox', { name: 'next JSON' }).fill('{"name": "elm", "next": {"name": 5}}');
  await page.getByRole('combobox', { name: 'Kind' }).selectOption({ label: 'Values' });
  await page.getByRole('textbox', { name: 'Values JSON' }).fill('{"n": 9007199254740993}');
  await page.getByRole('button', { name: 'Send answer' }).click();
  await page.getByRole('alert').filter({ hasText: 'next › name: ' }).waitFor();
  await page.getByRole('textbox', { name: 'next JSON' }).fill('{"name": "elm"}');
  await page.getByRole('button', { name: 'Send answer' }).click();
  await page.getByRole('article').getByRole('status').filter({ hasText: 'You answered this' }).waitFor();
  expect((await agent.decided(asked.id)).resolution?.answer?.data).toMatchObject({
    tree: { name: 'oak', next: { name: 'elm' } },
  });
});
