// Fails if package.json names a package that the page, its tests and its tools do not use.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const web = fileURLToPath(new URL('..', import.meta.url));
const { scripts, dependencies, devDependencies } = JSON.parse(readFileSync(join(web, 'package.json'), 'utf8'));
const folders = ['src', 'tests', 'scripts'].map((folder) =>
  readdirSync(join(web, folder), { recursive: true }).map((file) => join(folder, file)),
);
const files = [...folders.flat(), ...readdirSync(web)].filter(
  (file) => /\.(css|[jt]sx?|mjs)$/u.test(file) && !file.includes('node_modules'),
);
const sources = files.map((file) => readFileSync(join(web, file), 'utf8')).join('\n');
const commands = Object.values(scripts).flatMap((line) => line.split(/[ &]+/u));
const unused = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !isUsed(name));
if (unused.length > 0) {
  process.stderr.write(`package.json names packages that nothing uses: ${unused.join(', ')}\n`);
  process.exitCode = 1;
}

/** Whether a source imports a package, an npm script runs it, or it has the types of such a package. */
function isUsed(name) {
  const typed = name.replace(/^@types\//u, '');
  if (typed !== name) return typed === 'node' || isUsed(typed);
  const programs = Object.keys({
    ...JSON.parse(readFileSync(join(web, 'node_modules', name, 'package.json'), 'utf8')).bin,
  });
  return (
    new RegExp(`['"]${name}(/[^'"]*)?['"]`, 'u').test(sources) || programs.some((program) => commands.includes(program))
  );
}
