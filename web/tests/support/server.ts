import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProxy } from './proxy';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

function binary(): string {
  const builds = ['release', 'debug'].map((profile) => join(ROOT, 'target', profile, 'holdpoint'));
  const found = [process.env.HOLDPOINT_BIN, ...builds].find((path) => path && existsSync(path));
  if (!found) throw new Error('no holdpoint binary: build it, or name it in HOLDPOINT_BIN');
  return found;
}

export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}

/** A real server on a directory of its own, with the page in front of it. */
export class Server {
  readonly data = mkdtempSync(join(tmpdir(), 'holdpoint-web-'));
  readonly keys = new Map<string, string>();
  page = '';
  private child?: ChildProcess;
  private closePage?: () => Promise<void>;

  private constructor(
    readonly port: number,
    readonly policy?: string,
  ) {}

  static async start(options: { policy?: string } = {}): Promise<Server> {
    const server = new Server(await freePort(), options.policy);
    if (options.policy) writeFileSync(join(server.data, 'policy.toml'), options.policy);
    for (const [user, role] of [
      ['alice', 'admin'],
      ['bob', 'operator'],
      ['release-bot', 'agent'],
    ] as const) {
      server.keys.set(user, server.key(user, role));
    }
    await server.run();
    const proxy = await startProxy(server);
    server.page = proxy.address;
    server.closePage = proxy.close;
    return server;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  key(user: string, role: string, ...more: string[]): string {
    const words = ['keys', 'create', '--role', role, '--user', user, '--data', this.data, ...more];
    return execFileSync(binary(), words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  }

  async run(): Promise<void> {
    const policy = this.policy ? ['--policy', join(this.data, 'policy.toml')] : [];
    const words = ['serve', '--listen', `127.0.0.1:${this.port}`, '--data', this.data, ...policy];
    this.child = spawn(binary(), words, { stdio: 'ignore' });
    for (let attempt = 0; attempt < 200; attempt += 1) {
      const ready = await fetch(`${this.address}/readyz`).then(
        (response) => response.ok,
        () => false,
      );
      if (ready) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('the server did not become ready');
  }

  /** Without any farewell, as a machine dies. */
  async kill(): Promise<void> {
    const child = this.child;
    this.child = undefined;
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  async stop(): Promise<void> {
    await this.closePage?.();
    await this.kill();
    rmSync(this.data, { recursive: true, force: true });
  }
}
