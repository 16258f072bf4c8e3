/** Result of verifying an export: intact, or the number of the first entry that does not match. */
export type Trail =
  | { whole: true; entries: number; checkpoints: number; last: number }
  | { whole: false; entry: number };

interface Header {
  format: string;
  tenant: string;
  public_key: string;
  after: number;
  hash: string;
  last: number;
}

interface Checkpoint {
  seq: number;
  hash: string;
  previous: number;
  at: string;
  signature: string;
}

interface Seal {
  tenant: string;
  from: number;
  to: number;
  hash: string;
  shown: string;
  entries: number;
  digests_only: number;
  at: string;
  digest: string;
  signature: string;
}

// The text of an entry is hashed unchanged, so it is cut out of its line instead of being parsed and written again.
const ENTRY = /^\{"seq":(\d+),"digest":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"(?:,"entry":(\{.*\}))?\}$/u;

const utf8 = new TextEncoder();

/**
 * Verifies an export like `holdpoint audit verify`: the hash of each entry includes the one before, and each checkpoint
 * and the seal are signed with the key. Only the command reports how an entry was changed.
 */
export async function checkTrail(
  lines: AsyncIterable<string>,
  publicKey: string,
  onProgress: (entries: number) => void = () => undefined,
): Promise<Trail> {
  const reading = new Reading(await crypto.subtle.importKey('raw', bytes(publicKey), 'Ed25519', false, ['verify']));
  for await (const line of lines) {
    // A line that cannot be parsed counts as a mismatch.
    if (!(await reading.line(line, publicKey).catch(() => false))) return { whole: false, entry: reading.seq + 1 };
    if (reading.seq % 500 === 0) onProgress(reading.seq);
  }
  if (!(await reading.sealed())) return { whole: false, entry: reading.seq + 1 };
  return { whole: true, entries: reading.seq, checkpoints: reading.checkpoints, last: reading.seq };
}

/** State of reading an export: the last entry, its hash, and the part that is covered by signatures. */
class Reading {
  seq = 0;
  checkpoints = 0;
  private header?: Header;
  private seal?: Seal;
  private hash = '';
  private hidden = 0;
  private covered = 0;

  constructor(private readonly key: CryptoKey) {}

  /** Whether a line is valid at this position. */
  async line(line: string, publicKey: string): Promise<boolean> {
    if (this.seal) return false;
    if (!this.header) return this.begins(JSON.parse(line) as Header, publicKey);
    if (line.startsWith('{"checkpoint":')) return this.checkpoint(JSON.parse(line).checkpoint as Checkpoint);
    if (!line.startsWith('{"seal":')) return this.entry(line, this.header);
    this.seal = JSON.parse(line).seal as Seal;
    return true;
  }

  private begins(header: Header, publicKey: string): boolean {
    this.header = header;
    this.hash = header.hash;
    return header.format === 'holdpoint-audit-1' && header.public_key === publicKey && header.after === 0;
  }

  private async entry(line: string, { tenant }: Header): Promise<boolean> {
    const [, seq, digest, hash = '', text] = ENTRY.exec(line) ?? [];
    if (Number(seq) !== this.seq + 1 || (text !== undefined && (await sha256(text)) !== digest)) return false;
    if ((await sha256(`holdpoint audit entry\n${tenant}\n${seq}\n${this.hash}\n${digest}`)) !== hash) return false;
    this.seq += 1;
    this.hash = hash;
    if (text === undefined) this.hidden += 1;
    return true;
  }

  private async checkpoint({ seq, hash, previous, at, signature }: Checkpoint): Promise<boolean> {
    if (seq !== this.seq || hash !== this.hash || previous !== this.covered) return false;
    this.covered = seq;
    this.checkpoints += 1;
    return this.signed(['holdpoint audit checkpoint', this.header?.tenant, seq, hash, previous, at], signature);
  }

  /** Whether the export holds exactly the entries that were sealed. */
  async sealed(): Promise<boolean> {
    const { header, seal } = this;
    if (!header || !seal || this.covered !== this.seq || header.last !== this.seq) return false;
    const { tenant, from, to, hash, shown, entries, digests_only, at, digest, signature } = seal;
    const place = tenant === header.tenant && from === 1 && to === this.seq && hash === this.hash;
    if (!place || entries !== this.seq || digests_only !== this.hidden) return false;
    const statement = [tenant, from, to, hash, shown, entries, digests_only, at, digest];
    return this.signed(['holdpoint audit seal', ...statement], signature);
  }

  private signed(statement: unknown[], signature: string): Promise<boolean> {
    return crypto.subtle.verify('Ed25519', this.key, bytes(signature), utf8.encode(statement.join('\n')));
  }
}

/** Splits a text that arrives in pieces into lines. */
export async function* linesOf(pieces: AsyncIterable<string>): AsyncIterable<string> {
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', utf8.encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function bytes(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../gu) ?? [], (pair) => Number.parseInt(pair, 16));
}
