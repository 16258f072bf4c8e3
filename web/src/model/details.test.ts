import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
  ['This field is required.', 'form.wrong.required'],
  ['This field is not part of the form.', 'form.wrong.extra'],
  ['must have at most 1024 bytes', 'form.wrong.maxBytes 1024'],
  ['must have at most 100 items', 'form.wrong.maxItems 100'],
  ['is not one of the options', 'form.wrong.enum'],
  ['Must be exactly 9 to 5.', 'form.wrong.exactly 9 to 5'],
  ['Must be a whole number.', 'form.wrong.isInteger'],
  ['Must be text or null.', 'Must be text or null.'],
  ['Must be an email address, such as name@example.com.', 'form.wrong.email'],
  ['is already the id of another option', 'form.wrong.taken'],
  ['contains U+202E, which could disguise it', 'form.wrong.hidden U+202E'],
  ['something else', 'something else'],
])('%s is shown as %s', (message, expected) => {
  expect(detailOf(t, message)).toBe(expected);
});

// Messages without values, with the file of the server that writes them.
test.each([
  ['forms/src/explain.rs', 'This field is required.', 'required'],
  ['forms/src/explain.rs', 'This field is not part of the form.', 'extra'],
  ['forms/src/explain.rs', 'Is not accepted.', 'other'],
  ['forms/src/messages.rs', 'Does not fit any of the accepted alternatives.', 'alternatives'],
  ['forms/src/messages.rs', 'Must be an email address, such as name@example.com.', 'email'],
  ['forms/src/messages.rs', 'Must be a full URL, such as https://example.com/page.', 'uri'],
  ['forms/src/messages.rs', 'Must be a date written as year-month-day, such as 2026-11-15.', 'date'],
  ['domain/src/question.rs', 'is not one of the options', 'enum'],
  ['domain/src/text.rs', 'begins or ends with a space', 'spaces'],
])('%s writes "%s"', (file, message, key) => {
  const source = readFileSync(join(import.meta.dirname, '../../../crates', file), 'utf8');
  expect(source).toContain(`"${message}"`);
  expect(detailOf(t, message)).toBe(`form.wrong.${key}`);
});
