import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CopyBox } from './copy';

let root: Root;

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  getSelection()?.removeAllRanges();
  root = createRoot(document.body.appendChild(document.createElement('div')));
});
afterEach(() => {
  vi.unstubAllGlobals();
  act(() => root.unmount());
});

async function pressed(clipboard?: { writeText: (text: string) => Promise<void> }): Promise<string> {
  vi.stubGlobal('navigator', { ...navigator, clipboard });
  act(() => root.render(<CopyBox value="hp_secret" label="Key" />));
  await act(async () => document.querySelector('button')?.click());
  return document.querySelector('button')?.textContent ?? '';
}

test('a copied value is confirmed after it was copied', async () => {
  const copied: string[] = [];
  expect(await pressed({ writeText: async (text) => void copied.push(text) })).toBe('common.copied');
  expect(copied).toEqual(['hp_secret']);
  expect(getSelection()?.toString()).toBe('');
});

test.each([
  ['no clipboard', undefined],
  ['a clipboard that refuses', { writeText: () => Promise.reject(new Error('not allowed')) }],
])('with %s the value is selected for copying by hand', async (_, clipboard) => {
  expect(await pressed(clipboard)).toBe('common.copyYourself');
  expect(getSelection()?.toString()).toBe('hp_secret');
});
