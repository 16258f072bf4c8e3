import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import SchemaForm, { type UnfinishedJson } from '.';

let root: Root;
let box: HTMLElement;
let unread: UnfinishedJson | undefined;
let changes: unknown[];
let sent: unknown[];

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  unread = undefined;
  changes = [];
  sent = [];
  box = document.body.appendChild(document.createElement('div'));
  root = createRoot(box);
});
afterEach(() => {
  act(() => root.unmount());
  box.remove();
});

const draw = (properties: Record<string, object>, value?: unknown) =>
  act(() =>
    root.render(
      <SchemaForm
        id="f"
        schema={{ type: 'object', properties }}
        value={value}
        unread={unread}
        onUnread={(next) => {
          unread = next;
        }}
        onChange={(data) => changes.push(data)}
        onSubmit={(data) => sent.push(data)}
      />,
    ),
  );
const leave = () => {
  act(() => root.unmount());
  root = createRoot(box);
};
const area = (at = 0) => box.querySelectorAll('textarea')[at];
const type = (text: string, at = 0) =>
  act(() => {
    const field = area(at);
    if (!field) throw new Error('no field');
    field.focus();
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')?.set?.call(field, text);
    field.dispatchEvent(new Event('input', { bubbles: true }));
  });
const blur = () => act(() => (document.activeElement as HTMLElement).blur());

const TWO = { m: { type: 'object' }, n: { type: 'object' } };

test('unfinished JSON is restored and still marked as invalid', () => {
  draw(TWO);
  type('{"q": ');
  leave();
  expect(unread).toEqual({ m: '{"q": ' });
  draw(TWO);
  expect(area()?.value).toBe('{"q": ');
  expect(area()?.dataset.unread).toBe('notJson');
  type('{"q": 1}');
  expect(unread).toBeUndefined();
  expect(changes.at(-1)).toMatchObject({ m: { q: 1 } });
});

test('a new value replaces unfinished JSON in all fields', () => {
  draw(TWO);
  type('{"q": ');
  draw(TWO);
  type('[', 1);
  blur();
  expect(unread).toEqual({ m: '{"q": ', n: '[' });
  draw(TWO, { m: { q: 2 }, n: { q: 3 } });
  expect([area()?.value, unread]).toEqual(['{\n  "q": 2\n}', undefined]);
});

test('defaults are sent and do not count as changes', () => {
  draw({ city: { type: 'string', default: 'Ulm' }, size: { type: 'integer', default: 3 } });
  expect(box.querySelector('input')?.value).toBe('Ulm');
  expect(changes).toEqual([]);
  act(() => box.querySelector('form')?.requestSubmit());
  expect(sent).toEqual([{ city: 'Ulm', size: 3 }]);
});
