// @vitest-environment node
import { expect, test } from 'vitest';
import { checkTrail, linesOf } from './trail';
import exported from './trail.fixture.jsonl?raw';

// An export of the binary after two keys were created.
const LINES = exported.trimEnd().split('\n');
const KEY = JSON.parse(LINES[0] ?? '').public_key as string;

async function* pieces(text: string, size: number): AsyncIterable<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

const check = (lines: string[], key = KEY) => checkTrail(linesOf(pieces(`${lines.join('\n')}\n`, 100)), key);

/** The export with one line changed. */
const with_ = (at: number, change: (line: string) => string) =>
  LINES.map((line, number) => (number === at ? change(line) : line));

test('an export of the binary is verified as complete', async () => {
  expect(await check(LINES)).toEqual({ whole: true, entries: 2, checkpoints: 1, last: 2 });
});

test.each<[string, string[], number]>([
  ['a word of an entry was changed', with_(1, (line) => line.replace('key.created', 'key.revoked')), 1],
  ['an entry was taken out', LINES.filter((_, at) => at !== 1), 1],
  ['two have changed places', [0, 2, 1, 3, 4].map((at) => LINES[at] ?? ''), 1],
  ['the text of an entry was taken out', with_(2, (line) => line.replace(/,"entry":.*/u, '}')), 3],
  ['a line was cut', with_(3, (line) => line.slice(0, 40)), 3],
  ['a hash was changed', with_(2, (line) => line.replace(/"hash":"./u, '"hash":"_')), 2],
  ['the checkpoint is signed by nobody', with_(3, (line) => line.replace(/"signature":"../u, '"signature":"00')), 3],
  ['the checkpoint is gone', LINES.filter((_, at) => at !== 3), 3],
  ['the seal is gone', LINES.slice(0, 4), 3],
  ['the seal says something else', with_(4, (line) => line.replace('"shown":"all"', '"shown":"some"')), 3],
  ['something follows the seal', [...LINES, LINES[1] ?? ''], 3],
  ['the header speaks of more', with_(0, (line) => line.replace('"last":2', '"last":3')), 3],
])('%s', async (_, lines, entry) => {
  expect(await check(lines)).toEqual({ whole: false, entry });
});

test('an export signed with another key is refused', async () => {
  expect(await check(LINES, KEY.replace(/^../u, 'd7'))).toMatchObject({ whole: false });
});
