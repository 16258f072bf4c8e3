// Characters that look like ASCII characters. The lists come from Unicode's confusables.txt (UTS #39, version 15.1):
// the single characters whose prototype is one ASCII character. Characters whose NFKC form is ASCII are not listed,
// because `standsForAscii` finds them.

// Letters that look exactly like a Latin letter.
const TWINS = new Set(
  [
    'аеіјорсухѕԁһԛԝӏѵѡүАВЕКМНОРСТУХІЈЅҮӀѴԌԚԜ', // Cyrillic
    'αινορυϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿϺϜ', // Greek
    'քցհոռօգզսաՕՏՍ', // Armenian
    'ⲥⲟⲣⲤⲎⲔⲒⳐⲘⲚⲞⲢⲦⲬⲨ', // Coptic
    'ᎪᏟᏴᎠᎬᏀᏳᎻᎥᎫᏦᏞᎷᏢᎡᏒᏕᏚᎢᏙᎳᏔᎩᎽᏃᏏᏧᏂꭵꮯꮁꮪꮩꮃꮓ', // Cherokee
    'ꓮꓐꓚꓒꓓꓰꓝꓖꓧꓙꓗꓲꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ', // Lisu
    'ᗅᑲᖯᗷᑯᗞᗪᖴᕼᒍᒪᗰᑭᖇᑌᐯᕁᕽ', // Canadian syllabics
    '𐐽𐐕𐐛𐐬𐐄𐑈𐐠', // Deseret
    '𐓪𐓂𐒴𐓶𐓎', // Osage
  ].flatMap((letters) => Array.from(letters)),
);

// Letters and digits that look like ASCII characters only within a word of Latin letters.
const NEARLY = new Set(
  [
    'ıɡɑɩɪƄᴄꬲꬵꞙẝᶃƍƖǀᴏᴑꬽꭇꭈꜱƽꞟᴜꭎꭒʋᴠɯᴡɣᶌʏỿꭚᴢꞘꞲꞳꞴƦƧƷȜƼǃ', // Latin
    'гбЗЬҽꙇꙄӠ', // Cyrillic
    'γσϱᴦ', // Greek
    '०০੦૦୦௦౦೦൦๐໐၀ഠჿყ', // zeros and rings of other scripts
    '\u05d5\u05d8\u05df\u05e1\u0627\u0647\u06be\u06c1\u06d5\u0665\u06f5', // Hebrew and Arabic
  ].flatMap((letters) => Array.from(letters)),
);

const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
const LATIN = /\p{Script=Latin}/u;
const LETTER = /\p{L}/u;
const SCRIPTS = [
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Lisu}/u,
  /\p{Script=Canadian_Aboriginal}/u,
  /\p{Script=Deseret}/u,
  /\p{Script=Osage}/u,
];

// Signs that look like `/ \ : . ! | * ~ , < > ^ ' = ( ) { }` when they are next to an ASCII character.
const SIGNS = /[∕⁄⧸⟋╱∖⧵⧹⟍꞉∶˸ː։׃⁚ꓸꓽꓹ٫ǃ∣׀∗⁎٭∼⁓˂˃ᐸᐳ❮❯˄ˆʹʻʼʽˈˊˋꞌ‵‛꓿⹀❨❩❲❳❴❵]+/gu;
const ASCII_BESIDE = /[!-~]/u;

// Dashes that look like `-` before a letter or a digit: in a name, or at the start of an option. In prose, dashes have
// spaces around them.
const DASHES = /[-‐‑‒–−˗⁃﹘]+/gu;
const OTHER_LETTER = /(?!\p{Script=Latin})\p{L}/u;
const LATIN_OR_DIGIT = /[\p{Script=Latin}0-9]/u;

// Superscripts, subscripts, ordinal signs, circled numbers, the ellipsis and similar characters, which are common in
// ordinary text.
const ORDINARY = /[ªº¹²³\u2070-\u209c…№™①-⑳\p{Extended_Pictographic}]/u;
const MATHEMATICAL = /[\u{1d400}-\u{1d7ff}]/u;
const NOT_ASCII = /[^\0-\x7f]/gu;
const ASCII = /^[\0-\x7f]+$/u;

// Full-width signs, which are normal beside Chinese, Japanese and Korean characters.
const WIDE_SIGNS = /[\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+/gu;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3001-\u303f]/u;

/**
 * Indices of characters that look like ASCII characters but are not. Words in another script are not treated as
 * disguised Latin words.
 */
export function lookalikes(text: string): number[] {
  if (ASCII.test(text)) return [];
  return [...inWords(text), ...amongSigns(text), ...asciiLookalikes(text)];
}

function inWords(text: string): number[] {
  const found: number[] = [];
  let start = 0;
  for (const line of text.split('\n')) {
    const words = ASCII.test(line) ? [] : [...line.matchAll(WORD)];
    const foreign = words.filter(([word]) => !LATIN.test(word)).flatMap(([word]) => Array.from(word));
    const prose = SCRIPTS.filter((script) => foreign.some((letter) => script.test(letter) && !TWINS.has(letter)));
    for (const { 0: word, index } of words) {
      const latin = LATIN.test(word);
      if (!latin && !isDisguise(word, prose)) continue;
      let at = start + index;
      for (const letter of word) {
        if (TWINS.has(letter) || (latin && NEARLY.has(letter))) found.push(at);
        at += letter.length;
      }
    }
    start += line.length + 1;
  }
  return found;
}

// `сору` in Cyrillic letters looks like `copy`. If other words of the text are clearly in that script, the word belongs
// to that language.
function isDisguise(word: string, prose: RegExp[]): boolean {
  const letters = Array.from(word).filter((letter) => LETTER.test(letter));
  const [first] = letters;
  if (first === undefined || letters.length < 2 || !letters.every((letter) => TWINS.has(letter))) return false;
  return !prose.some((script) => script.test(first));
}

function amongSigns(text: string): number[] {
  const signs = runs(text, SIGNS).filter(({ before, after }) => ASCII_BESIDE.test(before + after));
  const dashes = runs(text, DASHES).filter(
    ({ before, after }) => !OTHER_LETTER.test(before) && LATIN_OR_DIGIT.test(after),
  );
  return [...signs, ...dashes].flatMap(({ places }) => places).filter((at) => text[at] !== '-');
}

function asciiLookalikes(text: string): number[] {
  const wide = runs(text, WIDE_SIGNS).filter(({ before, after }) => CJK.test(before + after));
  const usual = new Set(wide.flatMap(({ places }) => places));
  return [...text.matchAll(NOT_ASCII)]
    .filter(({ 0: found, index }) => standsForAscii(found) && !usual.has(index))
    .map(({ index }) => index);
}

// Finds runs of signs: the index of each sign, and the characters before and after the run.
function runs(text: string, signs: RegExp): { places: number[]; before: string; after: string }[] {
  return [...text.matchAll(signs)].map(({ 0: run, index }) => {
    const end = index + run.length;
    return {
      places: Array.from(run, (_, at) => index + at),
      before: Array.from(text.slice(Math.max(0, index - 2), index)).at(-1) ?? '',
      after: Array.from(text.slice(end, end + 2)).at(0) ?? '',
    };
  });
}

function standsForAscii(character: string): boolean {
  return !ORDINARY.test(character) && (MATHEMATICAL.test(character) || ASCII.test(character.normalize('NFKC')));
}
