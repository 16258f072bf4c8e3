import type { RJSFSchema } from '@rjsf/utils';

type Part = Record<string, unknown>;

/**
 * A schema as the forms library can draw it. An `$id` or a dialect of the agent's own would only send the validator looking for
 * what it must not fetch; and a list of constants says of which type they are.
 */
export function drawable(schema: RJSFSchema): RJSFSchema {
  const { $id, $schema, ...rest } = schema;
  return typed(rest) as RJSFSchema;
}

function typed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(typed);
  if (typeof part !== 'object' || part === null) return part;
  const made: Part = Object.fromEntries(Object.entries(part).map(([name, one]) => [name, typed(one)]));
  const among = [made.oneOf, made.anyOf].find(Array.isArray) as unknown[] | undefined;
  if (!among?.length || made.type !== undefined) return made;
  const kinds = among.map((one) => (isConstant(one) ? typeof one.const : 'undefined'));
  const [kind] = kinds;
  const one = kinds.every((other) => other === kind) && ['string', 'number', 'boolean'].includes(kind ?? '');
  return one ? { ...made, type: kind } : made;
}

function isConstant(part: unknown): part is { const: unknown } {
  return typeof part === 'object' && part !== null && 'const' in part;
}
