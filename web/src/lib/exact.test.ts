import { describe, expect, test } from 'vitest';
import {
  Exact,
  forFields,
  fromFields,
  isBeyond,
  marked,
  packed,
  readJson,
  revived,
  showJson,
  unpacked,
  writeJson,
} from './exact';

describe('a number is written as it was read', () => {
  test.each([
    '9007199254740993',
    '-9223372036854775808',
    '18446744073709551615',
    '1.0',
    '1e400',
    '1E5',
    '-0.0',
    '0.10',
    '12345678901234567890123',
    '7',
    '0.5',
    '-3',
  ])('%s', (number) => {
    const text = `{"a":[${number},{"b":${number}}],"c":${number}}`;
    expect(writeJson(readJson(text))).toBe(text);
    expect(writeJson(readJson(number))).toBe(number);
  });
});

test('ordinary numbers stay numbers, and digits in a string stay a string', () => {
  expect(readJson('{"a":42,"b":"9007199254740993","c":"say \\"1.0\\"","1.0":"\\\\"}')).toEqual({
    a: 42,
    b: '9007199254740993',
    c: 'say "1.0"',
    '1.0': '\\',
  });
});

test.each(['{"a":01}', '{9007199254740993:1}', '[1.]', '[1.0.0]', '[--1]', '{"a":1.0', ''])('%s is no JSON', (text) => {
  expect(() => readJson(text)).toThrow(SyntaxError);
});

test('property names such as __proto__ are read as ordinary names', () => {
  const text = '{"__proto__":{"a":1.0},"constructor":9007199254740993}';
  expect(writeJson(readJson(text))).toBe(text);
});

test('a very long text is read', () => {
  const text = JSON.stringify({ a: 'x"\\'.repeat(1_000_000) });
  expect(writeJson(readJson(text))).toBe(text);
});

test('editable JSON escapes hidden characters and keeps its value', () => {
  const value = { a: 'safe\u202etxt', b: 'rm\u200b -rf', c: '\u{e0041}', d: '👩‍💻' };
  const text = showJson(value);
  expect(text).toContain('safe\\u202etxt');
  expect(text).toContain('rm\\u200b -rf');
  expect(text).toContain('\\udb40\\udc41');
  expect(text).toContain('👩‍💻');
  expect(readJson(text)).toEqual(value);
});

test('numbers of agents keep their spelling, and numbers of the server stay numbers', () => {
  const reply = JSON.parse(marked('{"p50":1.0,"action":{"arguments":{"p50":1.0,"id":9007199254740993}}}'));
  expect(revived(reply, ['arguments'])).toEqual({
    p50: 1,
    action: { arguments: { p50: new Exact('1.0'), id: new Exact('9007199254740993') } },
  });
});

test('packed values survive structuredClone and are unpacked unchanged', () => {
  const text = '{"n":1.0,"list":[9007199254740993,"1.0",2,null]}';
  const held = packed(readJson(text));
  expect(writeJson(unpacked({ ...structuredClone(held as object) }))).toBe(text);
  expect(writeJson(unpacked(held))).toBe(text);
  expect(packed(undefined)).toBeUndefined();
  expect(unpacked(undefined)).toBeUndefined();
});

describe('fields', () => {
  const before = readJson('{"n":1.0,"list":[2.0,3.5],"big":{"id":9007199254740993}}');
  test('know which numbers they cannot hold', () => {
    expect(isBeyond(before)).toBe(true);
    expect(isBeyond(readJson('{"n":1.0,"m":1e3}'))).toBe(false);
    expect(isBeyond(readJson('1e400'))).toBe(true);
  });
  test('return unchanged values with their original spelling', () => {
    expect(forFields({ n: new Exact('1.0') })).toEqual({ n: 1 });
    const edited = { n: 1, list: [2, 4], big: 'x' };
    expect(writeJson(fromFields(edited, before))).toBe('{"n":1.0,"list":[2.0,4],"big":"x"}');
    const exact = { n: new Exact('1.00'), list: new Exact('5.0'), big: { id: new Exact('9007199254740995') } };
    expect(writeJson(fromFields(exact, before))).toBe('{"n":1.00,"list":5.0,"big":{"id":9007199254740995}}');
  });
});
