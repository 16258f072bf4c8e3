// Generates src/api/schema.d.ts from the `/v1` part of the server's OpenAPI document. With --check, fails if the file
// differs.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const tool = join(here, 'openapi-types');
const target = join(here, '../src/api/schema.d.ts');

if (!existsSync(join(tool, 'node_modules'))) {
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: tool, stdio: ['ignore', 'ignore', 'inherit'] });
}
const work = mkdtempSync(join(tmpdir(), 'holdpoint-types-'));
try {
  const document = join(work, 'openapi.json');
  const whole = JSON.parse(execFileSync(binary(), ['openapi'], { maxBuffer: 64 << 20, encoding: 'utf8' }));
  writeFileSync(document, JSON.stringify(partOf(whole, '/v1/'), withoutExamples));
  const made = execFileSync(
    process.execPath,
    [join(tool, 'node_modules/openapi-typescript/bin/cli.js'), document, '--alphabetize', '--empty-objects-unknown'],
    { maxBuffer: 64 << 20, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  if (!process.argv.includes('--check')) {
    writeFileSync(target, made);
  } else if (readFileSync(target, 'utf8') !== made) {
    process.stderr.write('src/api/schema.d.ts differs from the OpenAPI document: run `npm run types`.\n');
    process.exitCode = 1;
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** The part of the document whose paths begin with a prefix, with the components that it refers to. */
function partOf(document, prefix) {
  const paths = Object.fromEntries(Object.entries(document.paths).filter(([path]) => path.startsWith(prefix)));
  const components = {};
  const waiting = [paths];
  while (waiting.length > 0) {
    for (const [, kind, name] of JSON.stringify(waiting.pop()).matchAll(/"#\/components\/(\w+)\/([^"]+)"/gu)) {
      components[kind] ??= {};
      if (Object.hasOwn(components[kind], name)) continue;
      components[kind][name] = document.components[kind][name];
      waiting.push(components[kind][name]);
    }
  }
  return { ...document, paths, components };
}

/** Omits examples, which would become comments. No property of the API is named `example`. */
function withoutExamples(name, value) {
  return name === 'example' ? undefined : value;
}

/** Path of the server binary: HOLDPOINT_BIN, or the newest build in this repository. */
function binary() {
  const builds = ['release', 'debug'].map((profile) => join(here, '../../target', profile, 'holdpoint'));
  const age = (path) => statSync(path).mtimeMs;
  const newest = builds.filter(existsSync).sort((one, other) => age(other) - age(one))[0];
  const found = process.env.HOLDPOINT_BIN ?? newest;
  if (!found) throw new Error('no holdpoint binary: build it, or name it in HOLDPOINT_BIN');
  return found;
}
