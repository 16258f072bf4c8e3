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

/** What a server is started with, besides its data. */
export interface ServerOptions {
  agents?: Record<string, string>;
  flows?: Record<string, string>;
  /** Further words of its command line. */
  words?: string[];
}

/** A real server on a directory of its own, with the page in front of it. */
export class Server {
  readonly data = mkdtempSync(join(tmpdir(), 'holdpoint-web-'));
  readonly keys = new Map<string, string>();
  page = '';
  /** What it has printed since it was last started. */
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

  /** The page that the binary has inside, where it is the one that was just built; else that one, in front of it. */
  private async show(): Promise<void> {
    this.page = this.address;
    if (await givesOut(this.address)) return;
    if (process.env.HOLDPOINT_WEB_BUILT) throw new Error('the binary has another page inside than web/dist');
    const front = await startFront(this);
    this.page = front.address;
    this.closePage = front.close;
  }

  /** Runs the binary as whoever holds the data. */
  cli(...words: string[]): string {
    const all = [...words, '--data', this.data];
    return execFileSync(binary(), all, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  }

  /** What the binary says of an export. */
  verify(file: string): string {
    return execFileSync(binary(), ['audit', 'verify', file], { encoding: 'utf8' });
  }

  /** A one-time link for somebody, as a path. */
  link(user: string): string {
    const { pathname, hash } = new URL(this.cli('users', 'link', user));
    return pathname + hash;
  }

  /** The cookie of somebody who is signed in; of a stranger, nothing. */
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

  /** Gives somebody a password, as they would do it themselves. */
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

  /** Definitions that the server is started with, a file each. */
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

  /** Runs on a port that is free; on another one where somebody was quicker to take it. */
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
      // It says where it is once the port is its own: another server there would be ready too.
      if (ready && this.said.includes(this.address)) return;
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
