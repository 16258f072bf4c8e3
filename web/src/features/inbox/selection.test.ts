import { expect, test } from 'vitest';
import { selecting } from './selection';
import { slices } from './slices';

const LIST = ['a', 'b', 'c', 'd', 'e'];
const after = (selected: string[], id: string, before?: string) =>
  [...selecting(new Set(selected), LIST, id, before)].sort().join('');

test('a click selects or deselects one question', () => {
  expect(after(['a'], 'c')).toBe('ac');
  expect(after(['a', 'c'], 'c')).toBe('a');
});

test('a click with Shift selects or deselects the range since the last click', () => {
  expect(after(['b'], 'd', 'b')).toBe('bcd');
  expect(after(['d'], 'b', 'd')).toBe('bcd');
  expect(after(['a', 'b', 'c', 'd'], 'c', 'a')).toBe('d');
  expect(after(['b'], 'b', 'b')).toBe('');
});

test('a last click on a question that has left the list starts no range', () => {
  expect(after([], 'c', 'gone')).toBe('c');
});

test('a batch is split in order into parts of at most 100', () => {
  const many = Array.from({ length: 205 }, (_, n) => n);
  expect(slices(many, 100).map((part) => part.length)).toEqual([100, 100, 5]);
  expect(slices(many, 100).flat()).toEqual(many);
  expect(slices([], 100)).toEqual([]);
});
