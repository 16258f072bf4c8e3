import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SRC = import.meta.dirname;
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (path) => /\.tsx?$/u.test(path) && !path.endsWith('schema.d.ts') && !path.includes('.test.'),
);
const read = (path: string) => readFileSync(join(SRC, path), 'utf8');

test('a feature never imports another feature, and shared code is in lower layers', () => {
  const wrong = files.flatMap((path) => {
    const own = /^features\/([\w-]+)\//u.exec(path)?.[1];
    const below = /^(ui|lib|model|api)\//u.test(path);
    const used = [...read(path).matchAll(/from '@\/(features\/([\w-]+)|routes|app)/gu)];
    return used
      .filter(([, what, feature]) => (own && what !== 'routes' && feature !== own) || below)
      .map(([text]) => `${path}: ${text}`);
  });
  expect(wrong).toEqual([]);
});

test('files stay small', () => {
  expect(files.filter((path) => read(path).split('\n').length > 250)).toEqual([]);
});

test('no file uses functions that turn text into markup or code', () => {
  const risky = /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/u;
  expect(files.filter((path) => risky.test(read(path)))).toEqual([]);
});
