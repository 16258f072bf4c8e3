import { type OutputUnit, Validator } from '@cfworker/json-schema';
import { type RJSFSchema, type RJSFValidationError, toErrorSchema, type ValidatorType } from '@rjsf/utils';
import { forFields, isBeyond, unpacked } from '@/lib/exact';
import { unescaped } from './parts';

/** Error message in the reader's language for a keyword, or a general message. */
export type Words = (keyword: string, limit?: unknown) => string;

// Keywords that only repeat an error of a nested value.
const WRAPPERS = ['properties', 'items', 'prefixItems', '$ref', 'allOf', 'if', 'then', 'else', 'additionalProperties'];

// The server checks these keywords for numbers that the browser rounds.
const COUNTED = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'uniqueItems'];

/** One validation error of a form. */
export interface Flaw {
  path: string[];
  keyword: string;
  limit?: unknown;
}

/** All validation errors, each at its field. */
export function flaws(schema: object, data: unknown, root: object = schema): Flaw[] {
  const whole =
    schema === root
      ? schema
      : { ...schema, $defs: definitions(root, '$defs'), definitions: definitions(root, 'definitions') };
  const plain = unpacked(data === undefined ? {} : data);
  const { valid, errors } = new Validator(whole as never, '2020-12', false).validate(written(forFields(plain)));
  if (valid) return unsafe(data);
  const leaves = errors.filter((unit) => !WRAPPERS.includes(unit.keyword));
  return (leaves.length > 0 ? leaves : errors)
    .map((unit) => flaw(unit, whole, plain))
    .filter(({ path, keyword }) => !COUNTED.includes(keyword) || !isBeyond(within(plain, path)));
}

/** The value as JSON: empty fields are absent, and empty list items are `null`. */
function written(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => (one === undefined ? null : written(one)));
  if (typeof value !== 'object' || value === null) return value;
  const there = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(there.map(([name, one]) => [name, written(one)]));
}

/** Integers that are so large that the browser has rounded them. */
function unsafe(data: unknown, path: string[] = []): Flaw[] {
  if (typeof data === 'number')
    return Number.isInteger(data) && !Number.isSafeInteger(data) ? [{ path, keyword: 'exact' }] : [];
  if (typeof data !== 'object' || data === null) return [];
  return Object.entries(data).flatMap(([name, one]) => unsafe(one, [...path, name]));
}

function definitions(root: object, name: string): unknown {
  return (root as Record<string, unknown>)[name] ?? {};
}

function flaw(unit: OutputUnit, schema: object, data: unknown): Flaw {
  const path = unit.instanceLocation.split('/').slice(1).map(unescaped);
  const missing = unit.keyword === 'required' ? /"(.*)"/u.exec(unit.error)?.[1] : undefined;
  if (missing !== undefined) path.push(missing);
  // An empty list item has no type yet.
  const empty = unit.keyword === 'type' && (within(data, path) ?? undefined) === undefined;
  return {
    path,
    keyword: empty ? 'required' : unit.keyword,
    limit: within(schema, unit.keywordLocation.split('/').slice(1).map(unescaped)),
  };
}

function within(whole: unknown, path: string[]): unknown {
  let found: unknown = whole;
  for (const part of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Record<string, unknown>)[part];
  }
  return found;
}

interface Rules {
  /** The complete schema, if the form is drawn from a reduced one. */
  whole?: RJSFSchema;
  /** Additional errors. */
  more?: (data: unknown) => Flaw[];
  /** Path at which an error is shown. */
  field?: (path: string[]) => string[];
}

/** A validator without `eval`, which a strict content security policy forbids. The server checks everything again. */
export function validator(words: Words, { whole, more = () => [], field = (path) => path }: Rules = {}): ValidatorType {
  const valid = (schema: RJSFSchema, data: unknown, root: RJSFSchema) => {
    try {
      return flaws(schema, data, root).length === 0;
    } catch {
      return false;
    }
  };
  const toFormError = ({ path, keyword, limit }: Flaw): RJSFValidationError => {
    const place = field(path);
    const message = [path.slice(place.length).join(' › '), words(keyword, limit)].filter(Boolean).join(': ');
    return {
      name: keyword,
      message,
      params: { path: place },
      property: place.length === 0 ? '.' : place.map((part) => `.${part}`).join(''),
      stack: message,
    };
  };
  const errors = (schema: RJSFSchema, data: unknown) => flaws(schema, data).map(toFormError);
  return {
    isValid: valid,
    rawValidation: <Result>(schema: RJSFSchema, data: unknown) => ({ errors: errors(schema, data) as Result[] }),
    validateFormData: (data, schema) => {
      const found = [...errors(whole ?? schema, data), ...more(data).map(toFormError)];
      return { errors: found, errorSchema: toErrorSchema(found) };
    },
  };
}
