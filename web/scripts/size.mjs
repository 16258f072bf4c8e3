// Fails where the first page has grown beyond what it may weigh: its document, scripts, styles, font and longest language, compressed.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const MOST = 250 * 1024;
const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
const manifest = JSON.parse(readFileSync(`${DIST}.vite/manifest.json`, 'utf8'));

/** A chunk with everything that it cannot run without. */
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
const fonts = readdirSync(`${DIST}assets`).filter((name) => /^inter-latin-wght-normal.*\.woff2$/u.test(name));
const languages = Object.keys(manifest).filter((key) => /^src\/locales\/\w+\/index\.ts$/u.test(key));
const words = Math.max(...languages.map((key) => sum([...needed(key)].map((one) => manifest[one].file))));
const total = sum([...new Set(files), 'index.html', 'icon.svg', ...fonts.map((name) => `assets/${name}`)]) + words;

process.stdout.write(`first load: ${Math.round(total / 1024)} KB compressed of ${MOST / 1024}\n`);
if (fonts.length !== 1 || languages.length !== 3) throw new Error('the font or a language is not where it was');
if (editor.length > 0) throw new Error(`the editor is in the first load: ${editor.join(', ')}`);
if (total > MOST) {
  const heavy = [...new Set(files)].sort((a, b) => size(b) - size(a)).slice(0, 12);
  throw new Error(`the first load is too heavy:\n${heavy.map((file) => `${size(file)} ${file}`).join('\n')}`);
}
