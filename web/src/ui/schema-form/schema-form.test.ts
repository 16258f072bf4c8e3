import { describe, expect, test } from 'vitest';
import { controlsFor, fieldPath, schemaOf } from './controls';
import { drawable } from './drawable';
import { flaws } from './validator';

const controls = (property: object, value?: unknown) =>
  controlsFor({ type: 'object', properties: { x: property } } as never, value === undefined ? undefined : { x: value })
    .x;

test.each([
  ['text', { type: 'string' }, { 'ui:widget': 'text' }],
  ['long text by its format', { type: 'string', format: 'textarea' }, { 'ui:widget': 'textarea' }],
  ['long text by its size', { type: 'string', maxLength: 500 }, { 'ui:widget': 'textarea' }],
  ['few values', { enum: ['a', 'b'] }, { 'ui:widget': 'radio' }],
  ['many values', { enum: ['a', 'b', 'c', 'd', 'e'] }, { 'ui:widget': 'select' }],
  ['several of many', { type: 'array', uniqueItems: true, items: { enum: ['a', 'b'] } }, { 'ui:widget': 'checkboxes' }],
  ['yes or no', { type: 'boolean' }, { 'ui:widget': 'ToggleWidget' }],
  ['a box to tick', { type: 'boolean', format: 'checkbox' }, { 'ui:widget': 'checkbox' }],
  ['a date', { type: 'string', format: 'date' }, { 'ui:widget': 'date' }],
  ['a moment', { type: 'string', format: 'date-time' }, { 'ui:widget': 'DateTimeWidget' }],
  ['a file', { type: 'string', format: 'data-url' }, { 'ui:widget': 'file' }],
  ['an integer', { type: 'integer' }, {}],
  ['anything at all', {}, { 'ui:field': 'JsonField' }],
  ['a free object', { type: 'object' }, { 'ui:field': 'JsonField' }],
  ['a free list', { type: 'array' }, { 'ui:field': 'JsonField' }],
  ['one of several types', { type: ['string', 'number'] }, { 'ui:field': 'JsonField' }],
])('%s has its control', (_, schema, expected) => {
  expect(controls(schema)).toEqual(expected);
});

test('a value of several lines gets a text area', () => {
  expect(controls({ type: 'string' }, 'a\nb')).toEqual({ 'ui:widget': 'textarea' });
});

test('an agent cannot choose the widget', () => {
  expect(controls({ type: 'string', 'ui:widget': 'hidden', 'ui:field': 'x' })).toEqual({ 'ui:widget': 'text' });
});

test('references are followed until they recur', () => {
  const schema = {
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, note: { type: 'boolean' } } } },
    $ref: '#/$defs/node',
  };
  expect(controlsFor(schema as never)).toEqual({
    note: { 'ui:widget': 'ToggleWidget' },
    next: { 'ui:field': 'JsonField' },
  });
});

test('fields come in the order in which they were written', () => {
  const properties = { a: {}, b: {}, c: { type: 'object', properties: { x: {}, y: {} }, 'x-order': ['y', 'x'] } };
  const schema = { type: 'object', required: ['b'], properties, 'x-order': ['c', 'a', 'gone', 'c', 'b'] };
  expect(controlsFor(schema as never)).toMatchObject({
    'ui:order': ['c', 'a', 'b', '*'],
    c: { 'ui:order': ['y', 'x', '*'] },
  });
});

test('required fields come first if no order is known', () => {
  const schema = { type: 'object', required: ['b', 'gone'], properties: { a: {}, b: {} } };
  expect(controlsFor(schema as never)['ui:order']).toEqual(['b', '*']);
});

test('arguments without a schema keep their types', () => {
  expect(schemaOf({ a: 'x', n: 1, t: true, l: ['x'], m: [1, 'x'], o: null })).toEqual({
    type: 'object',
    properties: {
      a: { title: 'a', type: 'string' },
      n: { title: 'n', type: 'number' },
      t: { title: 't', type: 'boolean' },
      l: { title: 'l', type: 'array', items: { type: 'string' } },
      m: { title: 'm' },
      o: { title: 'o' },
    },
  });
});

describe('the errors of a form', () => {
  const schema = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 2 },
      age: { type: 'integer', maximum: 100 },
      tags: { type: 'array', items: { type: 'string' } },
      at: { $ref: '#/$defs/time' },
    },
    $defs: { time: { type: 'string', format: 'date-time' } },
  };
  test.each([
    ['nothing', { name: 'ab', age: 3, at: '2026-11-15T10:00:00+01:00' }, []],
    ['what is missing is at its own field', {}, [{ path: ['name'], keyword: 'required', limit: ['name'] }]],
    ['the limit is told', { name: 'a' }, [{ path: ['name'], keyword: 'minLength', limit: 2 }]],
    ['an integer is an integer', { name: 'ab', age: 1.5 }, [{ path: ['age'], keyword: 'type', limit: 'integer' }]],
    [
      'a number that was rounded',
      { name: 'ab', extra: [9007199254740992] },
      [{ path: ['extra', '0'], keyword: 'exact' }],
    ],
    ['within a list', { name: 'ab', tags: ['x', 1] }, [{ path: ['tags', '1'], keyword: 'type', limit: 'string' }]],
    [
      'a moment without an offset',
      { name: 'ab', at: '2026-11-15T10:00' },
      [{ path: ['at'], keyword: 'format', limit: 'date-time' }],
    ],
  ])('%s', (_, data, expected) => {
    expect(
      flaws(schema, data).map((flaw) => (flaw.keyword === 'format' ? { ...flaw, limit: 'date-time' } : flaw)),
    ).toEqual(expected);
  });
  test('an undefined value is checked as an empty form', () => {
    expect(flaws(schema, undefined)).toHaveLength(1);
  });
});

test('a list of constants of one type gets that type', () => {
  const among = (...values: unknown[]) => ({ oneOf: values.map((value) => ({ const: value })) });
  const made = drawable({ $id: 'x', properties: { a: among('x', 'y'), b: among(1, 2), c: among('x', 1) } } as never);
  expect(made).toEqual({
    properties: { a: { ...among('x', 'y'), type: 'string' }, b: { ...among(1, 2), type: 'number' }, c: among('x', 1) },
  });
});

test('an error below a part written as JSON belongs to the field of that part', () => {
  const properties = { m: { type: 'object' }, l: { type: 'array', items: {} }, s: { type: 'string' } };
  const drawn = controlsFor({ type: 'object', properties } as never);
  expect(fieldPath(drawn, ['m', 'k', '0'])).toEqual(['m']);
  expect(fieldPath(drawn, ['l', '2', 'k'])).toEqual(['l', '2']);
  expect(fieldPath(drawn, ['s'])).toEqual(['s']);
  expect(fieldPath(drawn, ['other', 'k'])).toEqual(['other', 'k']);
  expect(fieldPath(controlsFor({}), ['k'])).toEqual([]);
});

test.each([[undefined], [null]])(
  'a new item that is still empty (%s) is reported as required, not as a wrong type',
  (item) => {
    const schema = { properties: { names: { type: 'array', items: { type: 'string' } } } };
    expect(flaws(schema, { names: [item] })).toEqual([
      expect.objectContaining({ path: ['names', '0'], keyword: 'required' }),
    ]);
    expect(flaws(schema, { names: [5] })).toEqual([expect.objectContaining({ keyword: 'type' })]);
  },
);

test('a cleared field counts as missing', () => {
  const schema = { properties: { city: { type: 'string' } }, required: ['city'] };
  expect(flaws(schema, { city: undefined })).toEqual([
    expect.objectContaining({ path: ['city'], keyword: 'required' }),
  ]);
  expect(flaws({ properties: schema.properties }, { city: undefined })).toEqual([]);
});
