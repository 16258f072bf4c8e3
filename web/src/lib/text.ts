import { lookalikes } from './lookalikes';

/** A run of text that is shown as it is, or one character that is shown by its code point. */
export type Piece = { text: string } | { code: number };

// Control characters except tab and line feed, direction marks, invisible and joining characters, line and paragraph
// separators, lone surrogates, and all spaces except U+0020, because a reader cannot tell a no-break space, an en quad
// or a blank braille pattern from it.
const HIDDEN = /(?![\t\n ])[\p{Cc}\p{Cf}\p{Cs}\p{Z}\u2800\p{Default_Ignorable_Code_Point}]/gu;

const PICTURE = /\p{Extended_Pictographic}/u;

/** Splits untrusted text so that no character can hide, change the display order or pass for another character. */
export function pieces(text: string): Piece[] {
  const plain = text.replaceAll('\r\n', '\n');
  const found: Piece[] = [];
  let end = 0;
  const hidden = [...plain.matchAll(HIDDEN)].filter((match) => !joinsPictures(plain, match.index, match[0]));
  const marked = new Set([...hidden.map((match) => match.index), ...lookalikes(plain)]);
  for (const at of [...marked].sort((one, other) => one - other)) {
    const code = plain.codePointAt(at) ?? 0;
    if (at > end) found.push({ text: plain.slice(end, at) });
    found.push({ code });
    end = at + String.fromCodePoint(code).length;
  }
  if (end < plain.length) found.push({ text: plain.slice(end) });
  return found;
}

// In emoji such as a family, the joiner and the variation selector are part of one picture.
function joinsPictures(text: string, at: number, found: string): boolean {
  if (found !== '\u200d' && found !== '\ufe0f') return false;
  const before = text.slice(Math.max(0, at - 3), at);
  if (!PICTURE.test(before)) return false;
  return found === '\ufe0f' || PICTURE.test(text.slice(at + 1, at + 3));
}

/** Name of a code point, such as `U+202E`. */
export function codeName(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The text with every hidden character replaced by its name, for places where no markup is possible. */
export function spelled(text: string): string {
  return pieces(text)
    .map((piece) => ('text' in piece ? piece.text : `⟨${codeName(piece.code)}⟩`))
    .join('');
}

/**
 * Two texts for comparison, with hidden characters spelled out. Line endings are shown if they differ within or between
 * the texts; otherwise a change of line endings would be invisible.
 */
export function comparable(before: string, after: string): [string, string] {
  const both = [before, after];
  const even = !both.some((text) => text.includes('\r\n')) || !both.some((text) => /(?<!\r)\n/u.test(text));
  const shown = (text: string) => spelled(even ? text : text.replaceAll('\r\n', `⟨${codeName(13)}⟩\n`));
  return [shown(before), shown(after)];
}

/** Names of the hidden characters of a text, each once. */
export function hiddenIn(text: string): string[] {
  return [...new Set(pieces(text).flatMap((piece) => ('code' in piece ? [codeName(piece.code)] : [])))];
}

// Characters that make a field display the following text in another order.
const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** The first lines of a text that contain characters which change the display order. */
export function reorderedLines(text: string, most = 5): string[] {
  return text
    .split(/[\n\u2028\u2029]/u)
    .filter((line) => TURNS.test(line))
    .slice(0, most);
}

/** The text in one line without hidden characters, for titles of tabs and notifications. */
export function oneLine(text: string, most = 120): string {
  const line = spelled(text).replace(/\s+/gu, ' ').trim();
  const letters = Array.from(line);
  return letters.length <= most ? line : `${letters.slice(0, most - 1).join('')}…`;
}

/** A reason without the error number that the operating system appends. */
export function inWords(reason: string): string {
  return reason.replaceAll(/ \(os error -?\d+\)/gu, '');
}

/** The visible part of a long text before it is unfolded. */
export interface Fold {
  shown: string;
  folded: boolean;
  characters: number;
  lines: number;
}

export function fold(text: string, characters = 1200, lines = 16): Fold {
  const all = text.split('\n');
  const letters = Array.from(text).length;
  let shown = all.slice(0, lines).join('\n');
  if (Array.from(shown).length > characters) shown = Array.from(shown).slice(0, characters).join('');
  return { shown, folded: shown.length < text.length, characters: letters, lines: all.length };
}
