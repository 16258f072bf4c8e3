import type { RJSFSchema } from '@rjsf/utils';
import { Exact, forFields, packed, readJson, unpacked } from '@/lib/exact';
import { jsonParts } from './controls';
import { alternatives, branches, first, isPart, type Part, referred } from './parts';
import type { Flaw } from './validator';

const LIMITS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;
const NUMBERS = 'x-as-numbers';
const NUMBER = '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$';

/** A schema for fields that cannot hold every number, and the conversions between its values and exact values. */
export interface Exactly {
  /** Schema for the forms library, in which such numbers are strings of digits. */
  schema: RJSFSchema;
  /** Converts a value to the form that the fields hold. */
  encode: (value: unknown) => unknown;
  /** Converts field values to the form that is sent, with every digit. */
  decode: (value: unknown) => unknown;
  /** Errors that text validation misses: numbers beyond their limits. */
  flaws: (value: unknown) => Flaw[];
}

/** Finds the parts of a schema and of sample values that have numbers which JavaScript would write differently. */
export function exactly(schema: RJSFSchema, samples: readonly unknown[] = []): Exactly {
  const root = schema as Part;
  const exact = new Set<Part>();
  // A part that is written as JSON can hold any number.
  const json = jsonParts(schema);
  eachPart(root, (part) => {
    if (json.has(part)) return false;
    if (isExact(part)) exact.add(part);
    return true;
  });
  eachPart(root, (part) => {
    mark(part, part.default);
    return !json.has(part);
  });
  for (const sample of samples) mark(root, sample);

  function mark(part: Part, value: unknown): void {
    walk(part, value, (node, one, _, free) => {
      if (one instanceof Exact && !free) exact.add(node);
      return one;
    });
  }
  /** Walks through a value and its schema in parallel, and replaces each value by the result of `at`. */
  function walk(
    part: Part,
    value: unknown,
    at: (node: Part, one: unknown, path: string[], free: boolean) => unknown,
    path: string[] = [],
  ): unknown {
    if (json.has(part)) return at(part, value, path, true);
    const node = resolved(part, root);
    if (typeof value === 'object' && alternatives(node).some((one) => json.has(one)))
      return at(node, value, path, true);
    if (Array.isArray(value)) {
      const items = isPart(node.items) ? node.items : undefined;
      const all: unknown[] = value.map((one, place) => (items ? walk(items, one, at, [...path, String(place)]) : one));
      return all;
    }
    if (!isPart(value) || value instanceof Exact) return at(node, value, path, false);
    const known = properties(node, root);
    const parts = Object.entries(value).map(([name, one]): [string, unknown] => {
      const child = known.get(name);
      return [name, child ? walk(child, one, at, [...path, name]) : one];
    });
    return Object.fromEntries(parts);
  }
  const encode = (part: Part, value: unknown) =>
    forFields(walk(part, value, (node, one, _, free) => (free ? packed(one) : exact.has(node) ? asText(one) : one)));

  // A definition that is used both in fields and in JSON is duplicated: its numbers are strings in fields, and numbers
  // in JSON.
  let shared = false;
  function drawn(part: unknown, inside = false): unknown {
    if (Array.isArray(part)) return part.map((one) => drawn(one, inside));
    if (!isPart(part)) return part;
    if (part instanceof Exact) return Number(part.text);
    const free = inside || json.has(part);
    const filled = (one: unknown) => (free ? packed(one) : encode(part, one));
    const keyword = (name: string, one: unknown) => {
      if (name === 'default') return filled(one);
      if (name !== '$ref' || typeof one !== 'string' || !free || exact.size === 0) return drawn(one, free);
      shared = true;
      return one.replace(/^#(?=\/|$)/u, `#/$defs/${NUMBERS}`);
    };
    const made = Object.fromEntries(Object.entries(part).map(([name, one]) => [name, keyword(name, one)]));
    return exact.has(part) && !free ? { ...made, ...asTexts(part) } : made;
  }

  function whole(): Part {
    const made = drawn(root) as Part;
    if (!shared) return made;
    const { $id, $schema, ...rest } = root;
    return { ...made, $defs: { ...(isPart(made.$defs) ? made.$defs : {}), [NUMBERS]: drawn(rest, true) } };
  }

  return {
    schema: without(whole()) as RJSFSchema,
    encode: (value) => encode(root, value),
    decode: (value) => walk(root, unpacked(value), (node, one) => (exact.has(node) ? asNumber(one) : one)),
    flaws: (value) => {
      const found: Flaw[] = [];
      walk(root, value, (node, one, path) => {
        if (exact.has(node) && typeof one === 'string') found.push(...beyond(node, one, path));
        return one;
      });
      return found;
    },
  };
}

/** The changed keywords of a part whose numbers become strings. */
function asTexts(part: Part): Part {
  const listed = Array.isArray(part.enum) || 'const' in part || isPart(first(part.oneOf)) || isPart(first(part.anyOf));
  const made: Part = Object.fromEntries([...LIMITS, 'format'].map((name) => [name, undefined]));
  const type = Array.isArray(part.type) ? part.type.map(textual) : textual(part.type);
  if (type !== undefined || !listed) made.type = type ?? 'string';
  if (!listed) made.pattern = NUMBER;
  if (Array.isArray(part.enum)) made.enum = part.enum.map(asText);
  if ('const' in part) made.const = asText(part.const);
  if ('default' in part) made.default = asText(part.default);
  for (const name of ['oneOf', 'anyOf'] as const) {
    const list = part[name];
    if (Array.isArray(list)) made[name] = list.map((one) => (isPart(one) ? { ...one, const: asText(one.const) } : one));
  }
  return made;
}

function textual(type: unknown): unknown {
  return type === 'integer' || type === 'number' ? 'string' : type;
}

function asText(value: unknown): unknown {
  if (value instanceof Exact) return value.text;
  return typeof value === 'number' ? String(value) : value;
}

function asNumber(value: unknown): unknown {
  return typeof value === 'string' && new RegExp(NUMBER, 'u').test(value) ? readJson(value) : value;
}

/** Whether the part itself has a number that a field would round or write differently. */
function isExact(part: Part): boolean {
  const own = [part.default, part.const, ...(Array.isArray(part.enum) ? part.enum : [])];
  const far = LIMITS.map((name) => part[name]).some((limit) => limit instanceof Exact && !limit.common);
  const constants = [part.oneOf, part.anyOf].flatMap((list) => (Array.isArray(list) ? list : [])).filter(isPart);
  const chosen = constants.length > 0 && constants.every((one) => 'const' in one) ? constants : [];
  return far || [...own, ...chosen.map((one) => one.const)].some((one) => one instanceof Exact);
}

function beyond(part: Part, text: string, path: string[]): Flaw[] {
  return LIMITS.flatMap((keyword) => {
    const limit = asText(part[keyword]);
    const by = typeof limit === 'string' ? compared(text, limit) : undefined;
    if (by === undefined) return [];
    const broken = {
      minimum: by < 0,
      maximum: by > 0,
      exclusiveMinimum: by <= 0,
      exclusiveMaximum: by >= 0,
      multipleOf: false,
    }[keyword];
    return broken ? [{ path, keyword, limit }] : [];
  });
}

/** Compares two numbers exactly; undefined if a number is invalid or the exponents are too far apart. */
export function compared(one: string, other: string): number | undefined {
  const [a, b] = [scaled(one), scaled(other)];
  if (!a || !b) return undefined;
  const least = Math.min(a.power, b.power);
  if (Math.max(a.power, b.power) - least > 2000) return undefined;
  const [left, right] = [a, b].map(({ digits, power }) => digits * 10n ** BigInt(power - least)) as [bigint, bigint];
  return left < right ? -1 : left > right ? 1 : 0;
}

function scaled(text: string): { digits: bigint; power: number } | undefined {
  const found = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/u.exec(text);
  if (!found) return undefined;
  const [, whole = '', fraction = '', power = '0'] = found;
  return { digits: BigInt(whole + fraction), power: Number(power) - fraction.length };
}

/** Visits the parts of a schema; `see` returns whether the nested parts are visited. */
function eachPart(value: unknown, see: (part: Part) => boolean): void {
  if (Array.isArray(value)) for (const one of value) eachPart(one, see);
  if (!isPart(value) || value instanceof Exact) return;
  if (!see(value)) return;
  for (const [name, one] of Object.entries(value))
    if (!['default', 'const', 'enum', 'examples'].includes(name)) eachPart(one, see);
}

/** Fields of a part, including those of its alternatives. */
function properties(part: Part, root: Part, depth = 0): Map<string, Part> {
  const found = new Map<string, Part>();
  if (depth > 12) return found;
  for (const [name, child] of Object.entries(isPart(part.properties) ? part.properties : {}))
    if (isPart(child)) found.set(name, child);
  for (const one of [...branches(part), ...alternatives(part)])
    for (const [name, child] of properties(resolved(one, root), root, depth + 1))
      if (!found.has(name)) found.set(name, child);
  return found;
}

function resolved(part: Part, root: Part): Part {
  return referred(part, root) ?? part;
}

/** Drops undefined keys, which the forms library does not accept. */
function without(part: Part): Part {
  return JSON.parse(JSON.stringify(part)) as Part;
}
