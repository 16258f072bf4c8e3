import type { TFunction } from 'i18next';

// Validation messages of the server, and the keys of their translations. The first group is a number, value or pattern
// that the translation repeats.
const SERVER_MESSAGES: [RegExp, string][] = [
  [/^must be 1 to 128 printable ASCII characters without spaces$/u, 'name'],
  [/^must begin with https:\/\//u, 'address'],
  [/^is an address that this server does not send to$/u, 'unreachable'],
  [/^must be (\d+ to \d+)$/u, 'between'],
  [
    /^(?:must not be empty|is empty|is needed|Must not be empty\.|This field is required\.|Must have the field .*)$/u,
    'required',
  ],
  [/^(?:This field is not part of the form|Has (?:fields|items) that are not part of the form)\.$/u, 'extra'],
  [/^[Mm]ust have at least (\d+) characters?\.?$/u, 'minLength'],
  [/^[Mm]ust have at most (\d+) characters?\.?$/u, 'maxLength'],
  [/^must have at most (\d+) bytes$/u, 'maxBytes'],
  [/^Must have at least (\d+) items?\.$/u, 'minItems'],
  [/^[Mm]ust have at most (\d+) items?\.?$/u, 'maxItems'],
  [/^Must not contain the same item twice\.$/u, 'uniqueItems'],
  [/^Must be (\S+) or more\.$/u, 'minimum'],
  [/^Must be (\S+) or less\.$/u, 'maximum'],
  [/^Must be more than (\S+)\.$/u, 'exclusiveMinimum'],
  [/^Must be less than (\S+)\.$/u, 'exclusiveMaximum'],
  [/^Must be a multiple of (\S+)\.$/u, 'multipleOf'],
  [/^Must match the pattern (.+)\.$/su, 'matches'],
  [/^(?:Must be one of: |is not one of the options$)/u, 'enum'],
  [/^Must be exactly (.+)\.$/su, 'exactly'],
  [/^Must be text\.$/u, 'isText'],
  [/^Must be a whole number\.$/u, 'isInteger'],
  [/^Must be a number\.$/u, 'isNumber'],
  [/^Must be true or false\.$/u, 'isBoolean'],
  [/^Must be a list\.$/u, 'isList'],
  [/^(?:Must be an object with fields\.|must be an object)$/u, 'isObject'],
  [/^Must be an email address, such as /u, 'email'],
  [/^Must be a full URL, such as /u, 'uri'],
  [/^Must be a date written as /u, 'date'],
  [/^(?:Must be a date and time with |The date and time has no offset: )/u, 'dateTime'],
  [/^Does not fit any of the accepted alternatives\.$/u, 'alternatives'],
  [/^(?:Is not accepted|Nothing is accepted here|Must not have this value)\.$/u, 'other'],
  [/^(?:is named twice|is already the (?:name|id) of another .+)$/u, 'taken'],
  [/^begins or ends with a space$/u, 'spaces'],
  [/^contains (?:the control character )?(U\+[0-9A-F]+)(?:, which (?:could disguise it|cannot be seen))?$/u, 'hidden'],
];

/** Translates a validation message of the server; unknown messages are returned unchanged. */
export function detailOf(t: TFunction, message: string): string {
  for (const [pattern, name] of SERVER_MESSAGES) {
    const found = pattern.exec(message);
    if (!found) continue;
    const limit = name === 'between' ? found[1]?.replace(' to ', '–') : found[1];
    return t(`form.wrong.${name}` as 'form.wrong.minLength', { limit: limit ?? '', count: Number(limit) || 0 });
  }
  return message;
}
