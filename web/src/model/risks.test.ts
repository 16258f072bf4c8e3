import { expect, test } from 'vitest';
import { doubtsOf, type Facts, risksOf } from './risks';

const where = { verb: 'update', has_where: true };
const everywhere = { verb: 'delete', has_where: false };

test.each<[string, Facts, string[]]>([
  ['nothing that was parsed', {}, []],
  ['nothing of each sort', { shell: null, paths: [], url: null, sql: null }, []],
  ['a command', { shell: { elevated: true, globs: true, remote: false } }, ['elevated', 'globs']],
  ['one path of two', { paths: [{}, { escapes: true, steers: true }] }, ['escapes', 'steers']],
  ['an address', { url: { scheme: 'http', private: true, userinfo: true } }, ['private', 'userinfo', 'unencrypted']],
  ['a public address', { url: { scheme: 'https', private: false, non_ascii: false } }, []],
  ['some rows', { sql: { statements: [where], verbs: ['update'] } }, []],
  ['every row', { sql: { statements: [where, everywhere], verbs: ['update', 'delete'] } }, ['every_row']],
  ['reading without a condition', { sql: { statements: [{ verb: 'select', has_where: false }] } }, []],
  ['a table that goes', { sql: { statements: [], verbs: ['select', 'drop'] } }, ['destroys']],
])('the risks of %s', (_, facts, expected) => {
  expect(risksOf(facts)).toEqual(expected);
});

test('unparsed parts of a call are listed, each reason once', () => {
  const facts = {
    shell: { doubt: { reason: 'a program known only when it runs' } },
    paths: [{ unparsed: 'no path' }, { canonical: 'a' }, { unparsed: 'no path' }],
    url: { unparsed: 'no host' },
    sql: { doubt: null },
  };
  expect(doubtsOf(facts)).toEqual({
    unparsed: ['no path', 'no host'],
    doubted: ['a program known only when it runs'],
  });
});
