// Fails if the first load (document, scripts, styles, font and texts, compressed) exceeds the limit in any language.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const MOST = 250 * 1024;
const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
const manifest = JSON.parse(readFileSync(`${DIST}.vite/manifest.json`, 'utf8'));

/** A chunk with all chunks that it imports. */
function needed(key, found = new Set()) {
  if (found.has(key)) return found;
  found.add(key);
  for (const other of manifest[key].imports ?? []) needed(other, found);
  return found;
}

const size = (file) => gzipSync(readFileSync(DIST + file)).length;
const sum = (files) => files.reduce((all, file) => all + size(file), 0);

const chunks = [...needed('index.html')];
const editor = chunks.filter((key) => /editor|schema-form/u.test(`${key} ${manifest[key].file}`));
const files = chunks.flatMap((key) => [manifest[key].file, ...(manifest[key].css ?? [])]);
// Fonts that styles.css uses for each language; tests/size.e2e.ts checks what a browser loads.
const FONTS = { en: ['latin'], ru: [], zh: ['latin'] };
const assets = readdirSync(`${DIST}assets`);
const fonts = (names) =>
  names.map((name) => {
    const font = assets.find((file) => file.startsWith(`inter-${name}-wght-normal`) && file.endsWith('.woff2'));
    if (!font) throw new Error(`the font ${name} is not where it was`);
    return `assets/${font}`;
  });
const common = sum([...new Set(files), 'index.html', 'icon.svg']);
const totals = Object.entries(FONTS).map(([language, names]) => {
  const words = [...needed(`src/locales/${language}/index.ts`)].filter((key) => !chunks.includes(key));
  return [language, common + sum([...words.map((key) => manifest[key].file), ...fonts(names)])];
});
const total = Math.max(...totals.map(([, size]) => size));

const told = totals.map(([language, size]) => `${language} ${Math.round(size / 1024)}`).join(', ');
process.stdout.write(`first load: ${told} KB compressed of ${MOST / 1024}\n`);
const languages = Object.keys(manifest).filter((key) => /^src\/locales\/\w+\/index\.ts$/u.test(key));
if (languages.length !== totals.length) throw new Error('a language is not counted');
if (editor.length > 0) throw new Error(`the editor is in the first load: ${editor.join(', ')}`);
if (total > MOST) {
  const heavy = [...new Set(files)].sort((a, b) => size(b) - size(a)).slice(0, 12);
  throw new Error(`the first load is too heavy:\n${heavy.map((file) => `${size(file)} ${file}`).join('\n')}`);
}
