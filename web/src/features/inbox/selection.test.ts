import { expect, test } from 'vitest';
import { selecting } from './selection';
import { slices } from './slices';

const LIST = ['a', 'b', 'c', 'd', 'e'];
const after = (selected: string[], id: string, before?: string) =>
  [...selecting(new Set(selected), LIST, id, before)].sort().join('');

test('one is selected and given up alone', () => {
  expect(after(['a'], 'c')).toBe('ac');
  expect(after(['a', 'c'], 'c')).toBe('a');
});

test('with shift, all between it and the one before become what it becomes', () => {
  expect(after(['b'], 'd', 'b')).toBe('bcd');
  expect(after(['d'], 'b', 'd')).toBe('bcd');
  expect(after(['a', 'b', 'c', 'd'], 'c', 'a')).toBe('d');
  expect(after(['b'], 'b', 'b')).toBe('');
});

test('one before that is no longer in the list begins no range', () => {
  expect(after([], 'c', 'gone')).toBe('c');
});

test('many are sent in parts, each in its place', () => {
  const many = Array.from({ length: 205 }, (_, n) => n);
  expect(slices(many, 100).map((part) => part.length)).toEqual([100, 100, 5]);
  expect(slices(many, 100).flat()).toEqual(many);
  expect(slices([], 100)).toEqual([]);
});
