import { describe, expect, test } from 'vitest';
import { codeName, comparable, fold, hiddenIn, inWords, oneLine, pieces, reorderedLines, spelled } from './text';

const shown = (text: string) => pieces(text).map((piece) => ('text' in piece ? piece.text : codeName(piece.code)));

describe('hidden and direction-changing characters are shown by their code point', () => {
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

describe('characters that look like ASCII letters are shown by their code point', () => {
  test.each([
    ['a wholly Cyrillic word', 'сору', ['U+0441', 'U+043E', 'U+0440', 'U+0443']],
    ['another one', 'ехес', ['U+0435', 'U+0445', 'U+0435', 'U+0441']],
    ['one in a command', 'run ѕсоре x', ['run ', 'U+0455', 'U+0441', 'U+043E', 'U+0440', 'U+0435', ' x']],
    ['one in a line of its own below Russian', 'Привет\nсору', ['Привет\n', 'U+0441', 'U+043E', 'U+0440', 'U+0443']],
    ['a Cyrillic word beside Greek', 'γλώσσα сор', ['γλώσσα ', 'U+0441', 'U+043E', 'U+0440']],
    ['fullwidth letters', 'ｒｍ', ['U+FF52', 'U+FF4D']],
    ['fullwidth letters in Chinese', '运行ｒｍ', ['运行', 'U+FF52', 'U+FF4D']],
    ['mathematical letters', '𝐫𝐨𝐨𝐭', ['U+1D42B', 'U+1D428', 'U+1D428', 'U+1D42D']],
    ['a mathematical Greek letter', '𝛂b', ['U+1D6C2', 'b']],
    ['a roman numeral', 'ⅼs', ['U+217C', 's']],
    ['a letter without its dot', 'gıt', ['g', 'U+0131', 't']],
    ['a script letter', 'ɡit', ['U+0261', 'it']],
    ['a ligature', 'ﬁle', ['U+FB01', 'le']],
    ['a division slash', 'a∕b', ['a', 'U+2215', 'b']],
    ['a division slash at the beginning', 'cat ∕etc', ['cat ', 'U+2215', 'etc']],
    ['a fraction slash', 'a⁄b', ['a', 'U+2044', 'b']],
    ['a set minus', 'a∖b', ['a', 'U+2216', 'b']],
    ['two signs in a row', 'http:∕∕x', ['http:', 'U+2215', 'U+2215', 'x']],
    ['a fullwidth slash', 'a／b', ['a', 'U+FF0F', 'b']],
    ['a fullwidth semicolon', '；', ['U+FF1B']],
    ['a fullwidth semicolon in a command', 'ls； rm', ['ls', 'U+FF1B', ' rm']],
    ['a one dot leader', 'github․com', ['github', 'U+2024', 'com']],
    ['a modifier colon', 'c꞉x', ['c', 'U+A789', 'x']],
    ['a ratio', 'c∶x', ['c', 'U+2236', 'x']],
    ['a palochka', 'lӏs', ['l', 'U+04CF', 's']],
    ['an Armenian oh', 'oօk', ['o', 'U+0585', 'k']],
    ['Armenian letters', 'rսո', ['r', 'U+057D', 'U+0578']],
    ['another hyphen in a name', 'my‐app', ['my', 'U+2010', 'app']],
    ['a hyphen that does not break', 'my‑app', ['my', 'U+2011', 'app']],
    ['a figure dash', 'v1‒2', ['v1', 'U+2012', '2']],
    ['an en dash in a name', 'a–b', ['a', 'U+2013', 'b']],
    ['a dash before an option', 'rm –rf', ['rm ', 'U+2013', 'rf']],
    ['a minus before a long option', 'x −-all', ['x ', 'U+2212', '-all']],
    ['the unit of Kelvin', 'O\u212a', ['O', 'U+212A']],
  ])('%s', (_, text, expected) => {
    expect(shown(text)).toEqual(expected);
  });
});

test.each([
  ['Russian', 'Он сказал: «Сухо, а не сыро», и ушёл — в 5 часов. ТЕСТ № 3 на web-сервере.'],
  ['one letter', 'а'],
  ['Chinese', '请确认：删除文件（共3个）？“是”，或者「否」；完成！'],
  ['Chinese with Latin words', '运行 deploy，然后检查 README.md。① 备份 ② 重启'],
  ['German', 'Die Größe – 5 m² – ist „ungefähr“ richtig … oder? Straße, Öl, Übermut'],
  ['French', 'L’œuvre de François – déjà vue – coûte 5 €, n’est-ce pas ? 1º, 2ª'],
  ['Greek', 'Το αρχείο και ο νους του ανθρώπου είναι εδώ.'],
  ['a dash between words', 'one – two, Москва–Berlin, раз–два'],
  ['pictures', '👍🏽 ‼️ ™️ ℹ️ 🇩🇪 ✅'],
  ['marks of their own', 'naïve café e\u0301 ± × ÷ → ≤ “quoted” ‘so’ — x…'],
])('ordinary text stays as it is: %s', (_, text) => {
  expect(shown(text)).toEqual([text]);
});

test('CRLF is shown as a line end', () => {
  expect(shown('a\r\nb')).toEqual(['a\nb']);
});

test('hidden characters are spelled out in plain text and can be listed', () => {
  expect(spelled('a\n\u202eb')).toBe('a\n⟨U+202E⟩b');
  expect(hiddenIn('a\u202eb\u200bc\u202e')).toEqual(['U+202E', 'U+200B']);
  expect(hiddenIn('plain\n\ttext')).toEqual([]);
});

test('the error number is removed from a reason', () => {
  expect(inWords('tcp connect error: Connection refused (os error 111)')).toBe('tcp connect error: Connection refused');
});

test('a title is one line without breaks or hidden characters and is shortened', () => {
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

test('lines that would be displayed in another order are found', () => {
  expect(reorderedLines('a\nrm \u202e/ fr-\nשלום\n\u2067x\nz\u200b')).toEqual(['rm \u202e/ fr-', '\u2067x']);
  expect(reorderedLines('\u202ex\n'.repeat(9))).toHaveLength(5);
});

test('a comparison shows line ends only where they change', () => {
  expect(comparable('a\r\nb\r\n', 'a\nb\n')).toEqual(['a⟨U+000D⟩\nb⟨U+000D⟩\n', 'a\nb\n']);
  expect(comparable('a\nb', 'a\r\nb')).toEqual(['a\nb', 'a⟨U+000D⟩\nb']);
  expect(comparable('a\r\nb', 'a\r\nc')).toEqual(['a\nb', 'a\nc']);
  expect(comparable('a\nb\u202e', 'a\nc')).toEqual(['a\nb⟨U+202E⟩', 'a\nc']);
});
