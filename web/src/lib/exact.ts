import { pieces } from './text';

/** A number in its original spelling, if JavaScript would write it differently: 9007199254740993, 1.0. */
export class Exact {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }

  toJSON(): string {
    return this.text;
  }

  /** Whether a JavaScript number can represent this number; only the spelling differs. */
  get common(): boolean {
    const number = Number(this.text);
    return /[.eE]/u.test(this.text) ? Number.isFinite(number) : Number.isSafeInteger(number);
  }
}

// Prefix of such numbers while `JSON.parse` and `JSON.stringify` treat them as strings. It is random, so that no agent
// can guess it.
const MARK = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('');
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'gu');
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gsu;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u;

/** Turns numbers that `JSON.parse` would change into marked strings, which `revived` restores. */
export function marked(json: string): string {
  return json.replace(TOKEN, (token) => {
    const kept = token.startsWith('"') || String(Number(token)) === token || !NUMBER.test(token);
    return kept ? token : `"${MARK}${token}"`;
  });
}

/**
 * Restores marked numbers in place. With `below`, only numbers under these names keep their spelling; others become
 * JavaScript numbers, which the page computes with.
 */
export function revived(value: unknown, below?: readonly string[]): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith(MARK)) return value;
    const text = value.slice(MARK.length);
    return below ? Number(text) : new Exact(text);
  }
  if (typeof value !== 'object' || value === null) return value;
  const parts = value as Record<string, unknown>;
  for (const name of Object.keys(parts)) {
    const one = revived(parts[name], below?.includes(name) ? undefined : below);
    if (one !== parts[name])
      Object.defineProperty(parts, name, { value: one, enumerable: true, writable: true, configurable: true });
  }
  return value;
}

/** Reads JSON without rounding any of its numbers; throws what `JSON.parse` throws. */
export function readJson(json: string): unknown {
  JSON.parse(json);
  return revived(JSON.parse(marked(json)));
}

/** Writes JSON with every number as it was read. */
export function writeJson(value: unknown, indent?: number): string {
  const kept = function (this: Record<string, unknown>, name: string, one: unknown) {
    const own = this[name];
    return own instanceof Exact ? MARK + own.text : one;
  };
  return (JSON.stringify(value, kept, indent) as string | undefined)?.replace(MARKED, '$1') ?? '';
}

/** Replaces exact numbers by marked strings, for code that copies values deeply and would lose the spelling. */
export function packed(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(marked(writeJson(value)));
}

/** Restores the exact numbers of a packed value. */
export function unpacked(value: unknown): unknown {
  return revived(structuredClone(value));
}

/** JSON for display and editing: hidden and direction-changing characters are written as escapes. */
export function showJson(value: unknown): string {
  return pieces(writeJson(value, 2))
    .map((piece) => ('text' in piece ? piece.text : escaped(String.fromCodePoint(piece.code))))
    .join('');
}

function escaped(character: string): string {
  return character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Whether the value contains a number that a JavaScript number cannot represent. */
export function isBeyond(value: unknown): boolean {
  if (value instanceof Exact) return !value.common;
  return typeof value === 'object' && value !== null && Object.values(value).some(isBeyond);
}

/** The value for form fields, which hold only JavaScript numbers. */
export function forFields(value: unknown): unknown {
  if (value instanceof Exact) return Number(value.text);
  if (Array.isArray(value)) return value.map(forFields);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, forFields(one)]));
}

/** Field values as JSON: an unchanged number gets its original spelling back. */
export function fromFields(value: unknown, before: unknown): unknown {
  if (value instanceof Exact) return value;
  if (before instanceof Exact) return value === Number(before.text) ? before : value;
  if (typeof value !== 'object' || value === null || typeof before !== 'object' || before === null) return value;
  const old = before as Record<string, unknown>;
  const at = (name: string) => (Object.hasOwn(old, name) ? old[name] : undefined);
  if (Array.isArray(value)) return value.map((one, place) => fromFields(one, at(String(place))));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fromFields(one, at(name))]));
}
