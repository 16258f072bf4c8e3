import { describe, expect, test } from 'vitest';
import { codeName, comparable, fold, hiddenIn, inWords, oneLine, pieces, spelled, turnedIn } from './text';

const shown = (text: string) => pieces(text).map((piece) => ('text' in piece ? piece.text : codeName(piece.code)));

describe('what would hide or turn the text round is shown by its number', () => {
  test.each([
    ['a direction override', 'safe\u202etxt.exe', ['safe', 'U+202E', 'txt.exe']],
    ['isolates', '\u2066a\u2069', ['U+2066', 'a', 'U+2069']],
    ['a zero-width space', 'rm\u200b -rf', ['rm', 'U+200B', ' -rf']],
    ['an escape', '\u001b[2J', ['U+001B', '[2J']],
    ['a lone carriage return', 'a\rb', ['a', 'U+000D', 'b']],
    ['tags', 'x\u{e0041}', ['x', 'U+E0041']],
    ['half of a pair', 'x\ud800', ['x', 'U+D800']],
    ['a filler that looks like nothing', 'a\u3164b', ['a', 'U+3164', 'b']],
    ['a separator of lines', 'a\u2028b', ['a', 'U+2028', 'b']],
    ['a blank that is a letter', 'a\u2800b', ['a', 'U+2800', 'b']],
    ['a space that does not break', 'rm\u00a0-rf', ['rm', 'U+00A0', '-rf']],
    ['a wide space', 'a\u3000b', ['a', 'U+3000', 'b']],
    ['a thin space', 'a\u2009b', ['a', 'U+2009', 'b']],
    ['a Cyrillic letter in a Latin word', 'r\u043eot', ['r', 'U+043E', 'ot']],
    ['a Greek letter in a Latin word', '\u0391dmin', ['U+0391', 'dmin']],
  ])('%s', (_, text, expected) => {
    expect(shown(text)).toEqual(expected);
  });
});

test.each([
  ['tabs, lines and other scripts', 'a\tb\nпривет 你好 שלום'],
  ['markup', '<b onclick="x()">bold</b>'],
  ['joined pictures', '👩‍💻 and ❤️'],
  ['words of two scripts side by side', 'сервер root, и αβγ'],
])('%s stay as they are', (_, text) => {
  expect(shown(text)).toEqual([text]);
});

test('the line end of another system is a line end', () => {
  expect(shown('a\r\nb')).toEqual(['a\nb']);
});

test('where no markup can stand, hidden characters are spelled out, and can be listed', () => {
  expect(spelled('a\n\u202eb')).toBe('a\n⟨U+202E⟩b');
  expect(hiddenIn('a\u202eb\u200bc\u202e')).toEqual(['U+202E', 'U+200B']);
  expect(hiddenIn('plain\n\ttext')).toEqual([]);
});

test('a reason is in words', () => {
  expect(inWords('tcp connect error: Connection refused (os error 111)')).toBe('tcp connect error: Connection refused');
});

test('one line for titles: no breaks, no hidden characters, an end', () => {
  expect(oneLine('a\n  b\u202ec')).toBe('a b⟨U+202E⟩c');
  expect(oneLine('x'.repeat(200), 10)).toBe('xxxxxxxxx…');
});

describe('long text is folded with its true length', () => {
  test('by characters', () => {
    expect(fold('é'.repeat(3000), 1000, 10)).toEqual({
      shown: 'é'.repeat(1000),
      folded: true,
      characters: 3000,
      lines: 1,
    });
  });
  test('by lines', () => {
    expect(fold('1\n2\n3\n4', 1000, 2)).toEqual({ shown: '1\n2', folded: true, characters: 7, lines: 4 });
  });
  test('short text is not', () => {
    expect(fold('short')).toEqual({ shown: 'short', folded: false, characters: 5, lines: 1 });
  });
});

test('lines that would be shown in another order are found, and others are not', () => {
  expect(turnedIn('a\nrm \u202e/ fr-\nשלום\n\u2067x\nz\u200b')).toEqual(['rm \u202e/ fr-', '\u2067x']);
  expect(turnedIn('\u202ex\n'.repeat(9))).toHaveLength(5);
});

test('how lines end is seen in a comparison where it changes, and only there', () => {
  expect(comparable('a\r\nb\r\n', 'a\nb\n')).toEqual(['a⟨U+000D⟩\nb⟨U+000D⟩\n', 'a\nb\n']);
  expect(comparable('a\nb', 'a\r\nb')).toEqual(['a\nb', 'a⟨U+000D⟩\nb']);
  expect(comparable('a\r\nb', 'a\r\nc')).toEqual(['a\nb', 'a\nc']);
  expect(comparable('a\nb\u202e', 'a\nc')).toEqual(['a\nb⟨U+202E⟩', 'a\nc']);
});
