import type { RJSFSchema } from '@rjsf/utils';
import { Exact } from '@/lib/exact';
import { hiddenIn } from '@/lib/text';
import { isPart, type Part } from './parts';

const VALUES = ['default', 'const', 'enum', 'examples'];
const DRAWN = ['items', 'allOf', 'oneOf', 'anyOf', 'then', 'else'];
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'];

/** The forms library draws nothing for an empty schema. */
export const ANYTHING: RJSFSchema = { $comment: 'anything' };

/** Replaces empty schemas by `ANYTHING`, so that the forms library draws a field for them. */
export function withoutEmpty(schema: RJSFSchema): RJSFSchema {
  return (replaceEmpty(schema) ?? schema) as RJSFSchema;
}

function replaceEmpty(part: unknown): unknown {
  if (part === true || (isPart(part) && Object.keys(part).length === 0)) return ANYTHING;
  if (Array.isArray(part)) return part.map(replaceEmpty);
  if (!isPart(part) || part instanceof Exact) return part;
  const replaceEntry = ([name, one]: [string, unknown]): [string, unknown] => {
    if (NAMED.includes(name) && isPart(one))
      return [name, Object.fromEntries(Object.entries(one).map(([own, child]) => [own, replaceEmpty(child)]))];
    return [name, DRAWN.includes(name) ? replaceEmpty(one) : one];
  };
  return Object.fromEntries(Object.entries(part).map(replaceEntry));
}

/**
 * Adapts a schema to the forms library. `$id` and `$schema` are removed, because the validator would try to fetch them.
 * A list of constants gets their type. `dependentSchemas` is renamed to `dependencies`, which the library supports. A
 * free object gets `additionalProperties`, because its default would be lost otherwise.
 */
export function drawable(schema: RJSFSchema): RJSFSchema {
  const { $id, $schema, ...rest } = schema;
  return typed(rest) as RJSFSchema;
}

function typed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(typed);
  if (!isPart(part)) return part;
  const { dependentSchemas, ...made }: Part = Object.fromEntries(
    Object.entries(part).map(([name, one]) => [name, within(name, one)]),
  );
  if (isPart(dependentSchemas)) made.dependencies = { ...(made.dependencies as Part), ...dependentSchemas };
  // The browser draws examples itself, so those with hidden characters are left out.
  if (Array.isArray(made.examples)) made.examples = isOpen(made.default) ? made.examples.filter(isOpen) : undefined;
  if (made.type === 'object' && made.properties === undefined && made.allOf === undefined)
    made.additionalProperties ??= true;
  const among = [made.oneOf, made.anyOf].find(Array.isArray) as unknown[] | undefined;
  if (!among?.length || made.type !== undefined) return made;
  const kinds = among.map((one) => (isConstant(one) ? typeof one.const : 'undefined'));
  const [kind] = kinds;
  const one = kinds.every((other) => other === kind) && ['string', 'number', 'boolean'].includes(kind ?? '');
  return one ? { ...made, type: kind } : made;
}

function isOpen(value: unknown): boolean {
  return typeof value !== 'string' || hiddenIn(value).length === 0;
}

function within(name: string, value: unknown): unknown {
  if (VALUES.includes(name)) return value;
  if (!NAMED.includes(name) || !isPart(value)) return typed(value);
  return Object.fromEntries(Object.entries(value).map(([own, one]) => [own, listed(typed(one))]));
}

/** A field with a single possible value becomes a list with one option. */
function listed(part: unknown): unknown {
  return isConstant(part) && !('enum' in part) ? { type: typeof part.const, ...part, enum: [part.const] } : part;
}

function isConstant(part: unknown): part is { const: unknown } {
  return typeof part === 'object' && part !== null && 'const' in part;
}
