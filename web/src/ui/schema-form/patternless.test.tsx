import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, test } from 'vitest';
import SchemaForm from '.';
import { patternless } from './patternless';
import { flaws } from './validator';

const SLOW = '^(a+)+$';
const LONG = `${'a'.repeat(40)}!`;
// Built this way because the linter takes an object literal with the key `then` for a promise.
const condition = (rest: object, yes: object) => ({ ...rest, ...Object.fromEntries([['then', yes]]) });
const TEXT = { type: 'string', default: LONG };

// A pattern that was executed would not finish before the test times out.
test.each([
  ['a field', { properties: { x: { ...TEXT, pattern: SLOW } } }],
  [
    'a condition',
    condition({ properties: { x: TEXT }, if: { properties: { x: { pattern: SLOW } } } }, { required: ['y'] }),
  ],
  ['alternatives', { oneOf: [{ properties: { x: { ...TEXT, pattern: SLOW } } }, { properties: { x: TEXT } }] }],
  [
    'names of fields',
    { properties: { x: TEXT }, patternProperties: { [SLOW]: { type: 'string' } }, default: { [LONG]: 'v' } },
  ],
  ['a definition', { $defs: { a: { ...TEXT, pattern: SLOW } }, properties: { x: { $ref: '#/$defs/a' } } }],
  ['a name', { properties: { x: { type: 'object', propertyNames: { pattern: SLOW }, default: { [LONG]: 1 } } } }],
  ['an address', { properties: { x: { type: 'string', format: 'url', default: `http://${'a:'.repeat(50_000)}` } } }],
])('no pattern of an agent is run in the page: %s', (_, rules) => {
  const box = document.body.appendChild(document.createElement('div'));
  const root = createRoot(box);
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  const schema = { type: 'object', ...rules } as never;
  act(() =>
    root.render(
      <SchemaForm id="f" schema={schema} value={undefined} onChange={() => undefined} onSubmit={() => undefined} />,
    ),
  );
  act(() => box.querySelector('form')?.requestSubmit());
  expect(box.querySelector('form')).not.toBeNull();
  act(() => root.unmount());
  box.remove();
});

test.each([
  ['no pattern', { type: 'string', minLength: 1 }, undefined],
  ['a field called pattern', { properties: { pattern: { type: 'string' } } }, undefined],
  ['a value called pattern', { default: { pattern: 'x' } }, undefined],
  ['a text', { type: 'string', pattern: 'x', minLength: 2 }, { type: 'string', minLength: 2 }],
  ['closed names', { patternProperties: { x: {} }, additionalProperties: false, type: 'object' }, { type: 'object' }],
  ['what must not be', { not: { pattern: 'x' }, type: 'string' }, { type: 'string' }],
  ['one of several', { oneOf: [{ pattern: 'x' }, { type: 'null' }] }, { anyOf: [{}, { type: 'null' }] }],
  [
    'fields under a condition',
    condition(
      { if: { pattern: 'x' }, properties: { x: {} } },
      { properties: { y: { type: 'string' } }, required: ['y'] },
    ),
    { properties: { y: { type: 'string' }, x: {} } },
  ],
])('only patterns and the parts that depend on them are removed: %s', (_, schema, expected) => {
  expect(patternless(schema as never)).toEqual(expected ?? schema);
});

test('the page accepts every value that the whole schema accepts', () => {
  const schema = {
    type: 'object',
    properties: { x: { type: 'string' } },
    patternProperties: { '^n_': { type: 'number' } },
    additionalProperties: false,
    if: { properties: { x: { pattern: '^q' } } },
    else: { required: ['n_1'] },
    not: { properties: { x: { pattern: 'z$' } }, required: ['x'] },
  };
  const good = [{ x: 'q' }, { n_1: 2, x: 'a' }, { x: 'qq', n_7: 1 }];
  for (const value of good)
    expect([flaws(schema, value), flaws(patternless(schema as never), value)]).toEqual([[], []]);
});
