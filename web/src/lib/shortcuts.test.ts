import { expect, test } from 'vitest';
import { keyOf } from './shortcuts';

test.each([
  ['as it is', 'j', 'KeyJ', false, 'j'],
  ['a Russian layout', 'о', 'KeyJ', false, 'j'],
  ['a Russian layout with Caps Lock', 'О', 'KeyJ', false, 'j'],
  ['a Greek layout', 'φ', 'KeyF', false, 'f'],
  ['Caps Lock', 'J', 'KeyJ', false, 'j'],
  ['a capital letter that is meant', 'J', 'KeyJ', true, 'J'],
  ['Dvorak: the letter, not its place', 'j', 'KeyC', false, 'j'],
  ['Dvorak: no letter', '.', 'KeyE', false, '.'],
  ['AZERTY', 'a', 'KeyQ', false, 'a'],
  ['a mark stays what it is', '?', 'Digit7', true, '?'],
  ['a key with a name', 'Enter', 'Enter', false, 'Enter'],
  ['no key at all', 'Unidentified', '', false, 'Unidentified'],
])('%s', (_, key, code, shiftKey, meant) => {
  expect(keyOf({ key, code, shiftKey })).toBe(meant);
});
