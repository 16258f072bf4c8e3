import { act, type ReactNode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JsonTable } from './json';
import { OptionFacts } from './option-words';
import { Parsed } from './parsed';

let root: Root;
let box: HTMLElement;

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  box = document.body.appendChild(document.createElement('div'));
  root = createRoot(box);
});
afterEach(() => {
  act(() => root.unmount());
  box.remove();
});

const draw = (node: ReactNode) => act(() => root.render(node));
const length = () => box.textContent?.length ?? 0;
const unfold = () =>
  act(() => {
    for (const button of box.querySelectorAll('button')) button.click();
  });

const LONG = 'x'.repeat(30_000);
const command = { program: 'echo', args: [LONG], assignments: [], redirects: [], via: [] };
const paths = Array.from({ length: 900 }, (_, n) => ({ canonical: `/srv/data/part-${n}` }));

test.each([
  ['a long command', <Parsed key="p" parsed={{ shell: { commands: [command] } }} />, 30_000],
  ['a long path', <Parsed key="p" parsed={{ paths: [{ canonical: `/${LONG}` }] }} />, 30_000],
  ['many paths', <Parsed key="p" parsed={{ paths }} />, 900 * 16],
  [
    'many commands',
    <Parsed key="p" parsed={{ shell: { commands: paths.map(() => ({ ...command, args: ['one'] })) } }} />,
    900 * 7,
  ],
  ['a long name', <JsonTable key="j" value={{ [LONG]: 1 }} />, 30_000],
  ['a long risk', <OptionFacts key="o" option={{ risk: LONG, cost: LONG } as never} />, 60_000],
])('%s is folded and shown completely on request', (_, node, whole) => {
  draw(node);
  expect(length()).toBeLessThan(1500);
  unfold();
  expect(length()).toBeGreaterThanOrEqual(whole);
});

test.each([
  [5, '5'],
  ['5', '"5"'],
  [true, 'true'],
  ['true', '"true"'],
  [null, 'null'],
  ['null', '"null"'],
  [[], '[]'],
  [{}, '{}'],
  ['[]', '"[]"'],
  ['"5"', '"\\"5\\""'],
  ['five', 'five'],
])('%j is displayed so that its type is visible', (value, expected) => {
  draw(<JsonTable value={{ a: value }} />);
  expect(box.querySelector('dd')?.textContent).toBe(expected);
});

test('a deeply nested list is shown as a list', () => {
  draw(<JsonTable value={[[[[[[['deep']]]]]]]} />);
  expect(box.textContent).toContain('"deep"');
  expect(box.textContent).not.toContain('{');
});
