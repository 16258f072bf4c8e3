import { lookalikes } from './lookalikes';

/** A stretch of text to be shown as it is, or one character to be shown by its number. */
export type Piece = { text: string } | { code: number };

// Controls but tab and line feed, directions, whatever is invisible or joins, line and paragraph separators, halves of pairs; and every
// blank but the space: a reader takes a no-break space, an en quad or a blank braille pattern for it, or for nothing.
const HIDDEN = /(?![\t\n ])[\p{Cc}\p{Cf}\p{Cs}\p{Z}\u2800\p{Default_Ignorable_Code_Point}]/gu;

const PICTURE = /\p{Extended_Pictographic}/u;

/** Splits text from outside so that nothing in it can hide, turn the rest round or be taken for another character. */
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

// In "family" and its like the joiner is part of one picture, and so is the selector that asks for its colours.
function joinsPictures(text: string, at: number, found: string): boolean {
  if (found !== '\u200d' && found !== '\ufe0f') return false;
  const before = text.slice(Math.max(0, at - 3), at);
  if (!PICTURE.test(before)) return false;
  return found === '\ufe0f' || PICTURE.test(text.slice(at + 1, at + 3));
}

/** `U+202E`. */
export function codeName(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The text with every hidden character spelled out: for where no markup can stand. */
export function spelled(text: string): string {
  return pieces(text)
    .map((piece) => ('text' in piece ? piece.text : `⟨${codeName(piece.code)}⟩`))
    .join('');
}

/**
 * Two texts to be held against each other, spelled out. How lines end is seen where it is not the same throughout: else a change of
 * that alone would be none.
 */
export function comparable(before: string, after: string): [string, string] {
  const both = [before, after];
  const even = !both.some((text) => text.includes('\r\n')) || !both.some((text) => /(?<!\r)\n/u.test(text));
  const shown = (text: string) => spelled(even ? text : text.replaceAll('\r\n', `⟨${codeName(13)}⟩\n`));
  return [shown(before), shown(after)];
}

/** The hidden characters of a text, each once, by their numbers. */
export function hiddenIn(text: string): string[] {
  return [...new Set(pieces(text).flatMap((piece) => ('code' in piece ? [codeName(piece.code)] : [])))];
}

// Whatever makes a field show what follows in another order than it is written in.
const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** The first lines of a text in which something may turn it round. */
export function turnedIn(text: string, most = 5): string[] {
  return text
    .split(/[\n\u2028\u2029]/u)
    .filter((line) => TURNS.test(line))
    .slice(0, most);
}

/** The text in one line of plain characters: for titles of tabs and notifications, where no markup can stand. */
export function oneLine(text: string, most = 120): string {
  const line = spelled(text).replace(/\s+/gu, ' ').trim();
  const letters = Array.from(line);
  return letters.length <= most ? line : `${letters.slice(0, most - 1).join('')}…`;
}

/** A reason without the number that an operating system has put behind its own words. */
export function inWords(reason: string): string {
  return reason.replaceAll(/ \(os error -?\d+\)/gu, '');
}

/** What is shown of a long text before somebody unfolds it. */
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
