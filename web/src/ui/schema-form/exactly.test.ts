import { expect, test } from 'vitest';
import { readJson, writeJson } from '@/lib/exact';
import { compared, exactly } from './exactly';
import { flaws } from './validator';

const of = (schema: string, ...samples: string[]) => exactly(readJson(schema) as never, samples.map(readJson));

const SCHEMA = `{"type":"object","properties":{
  "id":{"type":"integer","title":"Id","default":9007199254740993},
  "rate":{"type":"number","enum":[1.0,2.50,3]},
  "big":{"oneOf":[{"const":18446744073709551615,"title":"All"},{"const":1}]},
  "far":{"type":"integer","minimum":9007199254740993,"maximum":12345678901234567890},
  "near":{"type":"integer","minimum":1.0},
  "list":{"type":"array","items":{"$ref":"#/$defs/count"},"default":[9007199254740995,2]},
  "note":{"type":"string"}},
  "$defs":{"count":{"type":"integer"}}}`;

test('numbers that no field can hold become strings, and others stay numbers', () => {
  const { properties, $defs } = of(SCHEMA).schema as never as Record<string, Record<string, object>>;
  expect(properties?.id).toMatchObject({ type: 'string', title: 'Id', default: '9007199254740993' });
  expect(properties?.rate).toEqual({ type: 'string', enum: ['1.0', '2.50', '3'] });
  expect(properties?.big).toEqual({ oneOf: [{ const: '18446744073709551615', title: 'All' }, { const: '1' }] });
  expect(properties?.far).toEqual({ type: 'string', pattern: expect.any(String) });
  expect(properties?.near).toEqual({ type: 'integer', minimum: 1 });
  expect(properties?.list).toMatchObject({ default: ['9007199254740995', '2'] });
  expect($defs?.count).toMatchObject({ type: 'string' });
  expect(properties?.note).toEqual({ type: 'string' });
});

test('encoded and decoded values keep every digit', () => {
  const exact = of(SCHEMA);
  const value = '{"id":9007199254740997,"rate":2.50,"big":1,"near":7,"list":[18446744073709551615],"note":"12"}';
  const held = exact.encode(readJson(value));
  expect(held).toEqual({
    id: '9007199254740997',
    rate: '2.50',
    big: '1',
    near: 7,
    list: ['18446744073709551615'],
    note: '12',
  });
  expect(flaws(exact.schema, held)).toEqual([]);
  expect(writeJson(exact.decode(held))).toBe(value);
});

test('large numbers of a suggestion keep every digit', () => {
  const schema = '{"type":"object","properties":{"id":{"type":"integer"},"n":{"type":"integer"}}}';
  const exact = of(schema, '{"id":9007199254740993,"n":4}');
  const held = exact.encode(readJson('{"id":9007199254740993,"n":4}'));
  expect(held).toEqual({ id: '9007199254740993', n: 4 });
  expect(writeJson(exact.decode(held))).toBe('{"id":9007199254740993,"n":4}');
});

test('limits are checked to the last digit, and text that is no number is refused', () => {
  const exact = of(SCHEMA);
  expect(exact.flaws({ far: '9007199254740992' })).toEqual([
    { path: ['far'], keyword: 'minimum', limit: '9007199254740993' },
  ]);
  expect(exact.flaws({ far: '9007199254740993' })).toEqual([]);
  expect(exact.flaws({ far: '12345678901234567891' })).toMatchObject([{ keyword: 'maximum' }]);
  expect(flaws(exact.schema, { far: '12x' })).toMatchObject([{ path: ['far'], keyword: 'pattern' }]);
  expect(exact.decode({ far: '12x' })).toEqual({ far: '12x' });
});

test.each([
  ['1.0', '1', 0],
  ['9007199254740993', '9007199254740992', 1],
  ['-2', '-1.5', -1],
  ['1e3', '999.99', 1],
  ['1e99999', '1', undefined],
])('%s compared with %s', (one, other, expected) => {
  expect(compared(one, other)).toBe(expected);
});

test('a schema without large numbers stays unchanged', () => {
  const schema = { type: 'object', properties: { a: { type: 'integer', minimum: 1, default: 2 }, b: { enum: ['x'] } } };
  expect(exactly(schema as never).schema).toEqual(schema);
});

test('parts written as JSON keep their numbers and numeric limits', () => {
  const map = '{"type":"object","additionalProperties":{"type":"integer","maximum":9007199254740995}}';
  const exact = of(`{"type":"object","properties":{"map":${map}}}`);
  const value = '{"map":{"k":9007199254740993,"n":1.0,"s":"1.0"}}';
  expect(exact.schema.properties?.map).toMatchObject({ additionalProperties: { type: 'integer' } });
  const held = structuredClone(exact.encode(readJson(value)));
  expect(writeJson(exact.decode(held))).toBe(value);
  expect(flaws(exact.schema, exact.encode(readJson('{"map":{"k":9007199254740993,"n":1.0}}')))).toEqual([]);
});

test('uniqueness of large numbers is left to the server', () => {
  const schema = '{"type":"object","properties":{"l":{"type":"array","uniqueItems":true}}}';
  const exact = of(schema);
  const wrong = (value: string) => flaws(exact.schema, exact.encode(readJson(value)));
  expect(wrong('{"l":[9007199254740992,9007199254740993]}')).toEqual([]);
  expect(wrong('{"l":[1,1]}')).toMatchObject([{ path: ['l'], keyword: 'uniqueItems' }]);
});

test('branches of a condition are encoded and decoded', () => {
  const branch = (n: string) => `{"properties":{"id":{"type":"integer","default":${n}}}}`;
  const branches = `"if":{},"then":${branch('9007199254740993')},"else":${branch('2')}`;
  const exact = of(`{"type":"object","properties":{"on":{"type":"boolean"}},${branches}}`);
  const held = exact.encode(readJson('{"id":9007199254740995}'));
  expect(held).toEqual({ id: '9007199254740995' });
  expect(writeJson(exact.decode(held))).toBe('{"id":9007199254740995}');
});
