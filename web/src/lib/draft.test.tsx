import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { forgetDrafts, useDraft } from './draft';

let root: Root;
let last: ReturnType<typeof useDraft<string>>;

function Box({ name }: { name?: string }) {
  last = useDraft(name, '');
  return <p>{last[0]}</p>;
}

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  sessionStorage.clear();
  root = createRoot(document.body.appendChild(document.createElement('div')));
});
afterEach(() => act(() => root.unmount()));

const show = (name?: string) => act(() => root.render(<Box name={name} />));
const write = (text: string) => act(() => last[1](text));

test('a draft is shown only under its own name and is restored there', () => {
  show('alice int_1');
  write('half a th');
  const [, late] = last;
  show('bob int_1');
  expect(last[0]).toBe('');
  act(() => late('too late'));
  expect(last[0]).toBe('');
  write('mine');
  show(undefined);
  expect(last[0]).toBe('');
  show('alice int_1');
  expect(last[0]).toBe('half a th');
  expect({ ...sessionStorage }).toEqual({ 'draft alice int_1': '"half a th"', 'draft bob int_1': '"mine"' });
});

test('signing out deletes all drafts', () => {
  show('alice int_1');
  write('half a th');
  forgetDrafts();
  show(undefined);
  show('alice int_1');
  expect(last[0]).toBe('');
});
