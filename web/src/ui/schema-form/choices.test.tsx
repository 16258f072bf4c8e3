import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import SchemaForm from '.';

let root: Root;
let box: HTMLElement;
let sent: unknown[];

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  sent = [];
  box = document.body.appendChild(document.createElement('div'));
  root = createRoot(box);
});
afterEach(() => {
  act(() => root.unmount());
  box.remove();
});

/** Draws a form with one field. */
const draw = (field: object, value?: unknown) =>
  act(() =>
    root.render(
      <SchemaForm
        id="f"
        schema={{ type: 'object', properties: { a: field } }}
        value={value === undefined ? undefined : { a: value }}
        onChange={() => undefined}
        onSubmit={(data) => sent.push((data as { a: unknown }).a)}
      />,
    ),
  );
const submit = () => act(() => box.querySelector('form')?.requestSubmit());
const shown = (one: string) => [...box.querySelectorAll(one)].map((found) => found.textContent);

// Drawn as it is, this would read safedoc.exe.
const TURNED = 'safe\u202eexe.cod';
const SPELLED = 'safeU+202Eexe.cod';
const IN_TEXT = 'safe⟨U+202E⟩exe.cod';
const MANY = ['1', '2', '3', '4', TURNED];

test.each([
  ['radio buttons', { type: 'string', enum: [TURNED, 'b'] }, 'label bdi', SPELLED],
  ['constants that are chosen from', { oneOf: [{ const: 'x', title: TURNED }] }, 'option', IN_TEXT],
  ['constants of a type', { type: 'string', anyOf: [{ const: 'x', title: TURNED }] }, 'option', IN_TEXT],
  ['a list to choose from', { type: 'string', enum: MANY }, 'option', IN_TEXT],
  ['boxes', { type: 'array', uniqueItems: true, items: { type: 'string', enum: [TURNED] } }, 'label bdi', SPELLED],
  ['one box', { type: 'boolean', format: 'checkbox', title: TURNED }, 'label bdi', SPELLED],
  [
    'alternatives',
    {
      oneOf: [
        { title: TURNED, type: 'string' },
        { title: 'Other', type: 'object' },
      ],
    }, //
    'option',
    IN_TEXT,
  ],
])('hidden characters are spelled out in the labels of %s', (_, field, where, expected) => {
  draw(field);
  expect(shown(where)).toContain(expected);
  expect(box.textContent).not.toContain('\u202e');
});

test('the chosen value is sent exactly as in the schema', () => {
  draw({ type: 'string', enum: [TURNED, 'b'] });
  act(() => box.querySelector<HTMLInputElement>('input[type=radio]')?.click());
  submit();
  expect(sent).toEqual([TURNED]);
});

test('an example with hidden characters is not offered', () => {
  draw({ type: 'string', examples: ['plain', TURNED] });
  expect([...box.querySelectorAll('datalist option')].map((one) => one.getAttribute('value'))).toEqual(['plain']);
});

test('hidden characters are spelled out in the name of a switch', () => {
  draw({ type: 'boolean', title: TURNED });
  expect(box.querySelector('[role=switch]')?.getAttribute('aria-label')).toBe(IN_TEXT);
});

test('object options are shown as JSON and sent unchanged', () => {
  draw({ enum: [{ zone: 1 }, { zone: 2 }] });
  expect(shown('.radio bdi')).toEqual(['{"zone":1}', '{"zone":2}']);
  act(() => [...box.querySelectorAll<HTMLInputElement>('input[type=radio]')][1]?.click());
  submit();
  expect(sent).toEqual([{ zone: 2 }]);
});

test('a nullable boolean has three values', () => {
  draw({ type: ['boolean', 'null'], title: 'Sure' });
  const [, no, neither] = box.querySelectorAll<HTMLInputElement>('[role=radiogroup] input');
  act(() => no?.click());
  submit();
  act(() => neither?.click());
  submit();
  expect(sent).toEqual([false, null]);
});

test.each([
  ['base64', { type: 'string', contentEncoding: 'base64' }, 'aGk='],
  ['a data URL', { type: 'string', format: 'data-url' }, 'data:text/plain;name=f.txt;base64,aGk='],
])('a file is sent as %s', async (_, field, expected) => {
  draw(field);
  const input = box.querySelector<HTMLInputElement>('input[type=file]');
  Object.defineProperty(input, 'files', { value: [new File(['hi'], 'f.txt', { type: 'text/plain' })] });
  act(() => {
    input?.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await vi.waitFor(async () => {
    await act(async () => undefined);
    expect(box.querySelector('li')).not.toBeNull();
  });
  expect(box.querySelector('li')?.textContent).toContain('f.txt');
  submit();
  expect(sent).toEqual([expected]);
});
