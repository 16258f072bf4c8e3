import { expect, test } from 'vitest';
import { detailOf } from './details';

const t = ((key: string, { limit }: { limit: string }) => `${key} ${limit}`.trim()) as never;

test.each([
  ['must be 1 to 128 printable ASCII characters without spaces', 'form.wrong.name'],
  ['must begin with https:// or http://', 'form.wrong.address'],
  ['is an address that this server does not send to', 'form.wrong.unreachable'],
  ['must be 1 to 64', 'form.wrong.between 1–64'],
  ['is needed', 'form.wrong.required'],
  ['Must have the field "city".', 'form.wrong.required'],
  ['must have at least 12 characters', 'form.wrong.minLength 12'],
  ['Must have at most 1 character.', 'form.wrong.maxLength 1'],
  ['Must be 5 or less.', 'form.wrong.maximum 5'],
  ['Must match the pattern ^AK.', 'form.wrong.matches ^AK'],
  ['Must be one of: "a", "b".', 'form.wrong.enum'],
  ['something else', 'something else'],
])('%s is shown as %s', (message, expected) => {
  expect(detailOf(t, message)).toBe(expected);
});
