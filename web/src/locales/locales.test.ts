import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import en from './en';
import ru from './ru';
import zh from './zh';

type Words = { [name: string]: string | Words };

// `claimed_by_other` is an error code, not a plural.
const PLURAL = /(?<!^problems\..*)_(zero|one|two|few|many|other)$/u;

function flat(words: Words, path = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(words)) {
    const key = path === '' ? name : `${path}.${name}`;
    if (typeof value === 'string') found.set(key, value);
    else for (const [inner, text] of flat(value, key)) found.set(inner, text);
  }
  return found;
}

function stems(words: Map<string, string>): string[] {
  return [...new Set([...words.keys()].map((key) => key.replace(PLURAL, '')))].sort();
}

function holes(text: string): string[] {
  return [...new Set(text.match(/\{\{\w+\}\}/gu) ?? [])].sort();
}

const english = flat(en as Words);

describe.each([
  ['ru', flat(ru as Words)],
  ['zh', flat(zh as Words)],
])('%s', (language, words) => {
  test('has every key of English', () => {
    expect(stems(words)).toEqual(stems(english));
  });

  test('has exactly the plural forms of its language', () => {
    const forms = [...new Intl.PluralRules(language).resolvedOptions().pluralCategories].sort();
    const plural = new Set([...words.keys()].filter((key) => PLURAL.test(key)).map((key) => key.replace(PLURAL, '')));
    for (const stem of plural) {
      const own = [...words.keys()].filter((key) => key.replace(PLURAL, '') === stem);
      expect(own.map((key) => PLURAL.exec(key)?.[1]).sort(), stem).toEqual(forms);
    }
  });

  test('uses the placeholders of English', () => {
    for (const [key, text] of words) {
      const same = english.get(key) ?? english.get(key.replace(PLURAL, '_other')) ?? '';
      expect(holes(text), key).toEqual(holes(same));
    }
  });

  test('is translated', () => {
    const letters = language === 'ru' ? /[а-яё]/iu : /\p{Script=Han}/u;
    const plain = [...words].filter(([, text]) => !letters.test(text)).map(([key]) => key);
    expect(plain.filter((key) => !/parsed\.verbs|insights\.p95$/u.test(key))).toEqual([]);
  });
});

/** Error codes that only agents, workers and dialect clients receive. */
const NOT_FOR_PEOPLE = new Set([
  'action_state',
  'another_run',
  'call_conflict',
  'call_reserved',
  'channel_mismatch',
  'delivery_closed',
  'delivery_taken',
  'header_invalid',
  'interaction_pending',
  'lease_lost',
  'malformed_json',
  'method_not_allowed',
  'needs_sign_in',
  'not_json',
  'not_your_action',
  'not_your_delivery',
  'not_your_session',
  'permit_expired',
  'permit_unknown',
  'permit_void',
  'route_not_found',
  'schema_invalid',
  'step_failed',
  'step_lost',
  'too_many_subscriptions',
  'upgrade_required',
  'encoding_unsupported',
]);

describe('every error code that a person can meet', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/errors.md'), 'utf8');
  const codes = [...page.matchAll(/^## (\w+)$/gmu)].map(([, code]) => code ?? '');

  test.each([
    ['en', en],
    ['ru', ru],
    ['zh', zh],
  ])('has a text in %s, and no other code has one', (_, words) => {
    const wanted = codes.filter((code) => !NOT_FOR_PEOPLE.has(code));
    // `offline` and `back_online` are codes of the page itself.
    expect(Object.keys(words.problems).sort()).toEqual([...wanted, 'back_online', 'offline'].sort());
  });

  test('is excluded only by a code that the server knows', () => {
    expect([...NOT_FOR_PEOPLE].filter((code) => !codes.includes(code))).toEqual([]);
  });
});
