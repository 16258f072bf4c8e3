import type { TFunction } from 'i18next';

// Validation messages of the server, and the keys of their translations. The first group is a number or pattern that
// the translation repeats.
const SAID: [RegExp, string][] = [
  [/^must be 1 to 128 printable ASCII characters without spaces$/u, 'name'],
  [/^must begin with https:\/\//u, 'address'],
  [/^is an address that this server does not send to$/u, 'unreachable'],
  [/^must be (\d+ to \d+)$/u, 'between'],
  [/^(?:must not be empty|is empty|is needed|Must not be empty\.|Must have the field .*)$/u, 'required'],
  [/^[Mm]ust have at least (\d+) characters?\.?$/u, 'minLength'],
  [/^[Mm]ust have at most (\d+) characters?\.?$/u, 'maxLength'],
  [/^Must have at least (\d+) items?\.$/u, 'minItems'],
  [/^Must have at most (\d+) items?\.$/u, 'maxItems'],
  [/^Must not contain the same item twice\.$/u, 'uniqueItems'],
  [/^Must be (\S+) or more\.$/u, 'minimum'],
  [/^Must be (\S+) or less\.$/u, 'maximum'],
  [/^Must be more than (\S+)\.$/u, 'exclusiveMinimum'],
  [/^Must be less than (\S+)\.$/u, 'exclusiveMaximum'],
  [/^Must be a multiple of (\S+)\.$/u, 'multipleOf'],
  [/^Must match the pattern (.+)\.$/u, 'matches'],
  [/^Must be one of: /u, 'enum'],
];

/** Translates a validation message of the server; unknown messages are returned unchanged. */
export function detailOf(t: TFunction, message: string): string {
  for (const [said, name] of SAID) {
    const found = said.exec(message);
    const limit = found?.[1]?.replace(' to ', '–') ?? '';
    if (found) return t(`form.wrong.${name}` as 'form.wrong.minLength', { limit, count: Number(limit) || 0 });
  }
  return message;
}
