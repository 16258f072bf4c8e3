import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Builds the page once for all test files, unless `HOLDPOINT_WEB_BUILT` is set. */
export function setup(): void {
  if (process.env.HOLDPOINT_WEB_BUILT) return;
  execFileSync('npx', ['vite', 'build', '--logLevel', 'warn'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: 'inherit',
    env: { ...process.env, NODE_ENV: 'production' },
  });
}
