import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { givesOut, startFront } from './front';

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

/** Start options of a server. */
export interface ServerOptions {
  agents?: Record<string, string>;
  flows?: Record<string, string>;
  /** Further command-line arguments. */
  words?: string[];
}

/** A server with its own data directory, and the page in front of it. */
export class Server {
  readonly data = mkdtempSync(join(tmpdir(), 'holdpoint-web-'));
  readonly keys = new Map<string, string>();
  page = '';
  /** Output since the last start. */
  said = '';
  private child?: ChildProcess;
  private closePage?: () => Promise<void>;
  private readonly visits = new Map<string, string>();
  private readonly more: string[] = [];

  port = 0;

  private constructor() {}

  static async start(options: ServerOptions = {}): Promise<Server> {
    const server = new Server();
    server.files('agents', options.agents);
    server.files('flows', options.flows);
    server.more.push(...(options.words ?? []));
    for (const [user, role] of [
      ['alice', 'admin'],
      ['bob', 'operator'],
      ['release-bot', 'agent'],
    ] as const) {
      server.keys.set(user, server.key(user, role));
    }
    await server.settle();
    server.cli('users', 'create', 'alice', '--role', 'admin', '--join-keys');
    server.cli('users', 'create', 'bob', '--role', 'operator', '--join-keys');
    await server.show();
    return server;
  }

  /** Uses the embedded page if it equals `dist`, otherwise serves `dist` in front of the binary. */
  private async show(): Promise<void> {
    this.page = this.address;
    if (await givesOut(this.address)) return;
    if (process.env.HOLDPOINT_WEB_BUILT) throw new Error('the binary has another page inside than web/dist');
    const front = await startFront(this);
    this.page = front.address;
    this.closePage = front.close;
  }

  /** Runs a command of the binary on the data directory. */
  cli(...words: string[]): string {
    const all = [...words, '--data', this.data];
    return execFileSync(binary(), all, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  }

  /** Output of `holdpoint audit verify` for an export. */
  verify(file: string): string {
    return execFileSync(binary(), ['audit', 'verify', file], { encoding: 'utf8' });
  }

  /** A one-time link for a person, as a path. */
  link(user: string): string {
    const { pathname, hash } = new URL(this.cli('users', 'link', user));
    return pathname + hash;
  }

  /** Session cookie of a person; undefined for other names. */
  async cookie(user: string): Promise<string | undefined> {
    if (!['alice', 'bob'].includes(user)) return undefined;
    const known = this.visits.get(user);
    if (known) return known;
    const response = await fetch(`${this.address}/v1/sign-in/link`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Holdpoint-Page': '1' },
      body: JSON.stringify({ token: this.link(user).split('#token=')[1] }),
    });
    const value = /holdpoint_session=([^;]+)/u.exec(response.headers.get('set-cookie') ?? '')?.[1];
    if (!value) throw new Error(`${user} could not sign in: ${response.status} ${await response.text()}`);
    this.visits.set(user, value);
    return value;
  }

  /** Sets a person's password through the API. */
  async password(user: string, password: string): Promise<void> {
    const response = await fetch(`${this.address}/v1/me/password`, {
      method: 'PUT',
      headers: {
        'Content-Type': 'application/json',
        'X-Holdpoint-Page': '1',
        Cookie: `holdpoint_session=${await this.cookie(user)}`,
      },
      body: JSON.stringify({ new: password }),
    });
    if (!response.ok) throw new Error(`${user} got no password: ${response.status} ${await response.text()}`);
  }

  /** Writes the definitions that the server loads, one file each. */
  private files(kind: 'agents' | 'flows', texts?: Record<string, string>): void {
    if (!texts) return;
    const folder = join(this.data, kind);
    mkdirSync(folder);
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
    this.more.push(`--${kind}`, folder);
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  key(user: string, role: string, ...more: string[]): string {
    return this.cli('keys', 'create', '--role', role, '--user', user, ...more);
  }

  /** Starts on a free port, and tries another one if the port was taken meanwhile. */
  private async settle(tries = 3): Promise<void> {
    this.port = await freePort();
    await this.run().catch((error: unknown) => {
      if (tries === 1) throw error;
      return this.settle(tries - 1);
    });
  }

  async run(): Promise<void> {
    const words = ['serve', '--listen', `127.0.0.1:${this.port}`, '--data', this.data, ...this.more];
    this.said = '';
    this.child = spawn(binary(), words, { stdio: ['ignore', 'pipe', 'ignore'] });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.said += text;
    });
    for (let attempt = 0; attempt < 600; attempt += 1) {
      if (this.child.exitCode !== null) throw new Error(`the server ended: ${this.said}`);
      const ready = await fetch(`${this.address}/readyz`).then(
        (response) => response.ok,
        () => false,
      );
      // The server prints its address once it owns the port; another server on the port would also answer.
      if (ready && this.said.includes(this.address)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('the server did not become ready');
  }

  /** Kills the server without a shutdown. */
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
