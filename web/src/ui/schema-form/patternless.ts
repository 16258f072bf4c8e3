import type { RJSFSchema } from '@rjsf/utils';
import { Exact } from '@/lib/exact';
import { isPart, type Part } from './parts';

// Keywords whose value is data, in which names are not keywords.
const VALUES = ['default', 'const', 'enum', 'examples'];
// Keywords whose value maps names to schemas, so that its keys are not keywords.
const NAMED = ['properties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'];
// Formats that the validator checks with a regular expression that takes quadratic time.
const SLOW_FORMATS = ['uri', 'uri-reference', 'uri-template', 'url', 'iri', 'iri-reference', 'regex'];

/**
 * Removes regular expressions from a schema. The browser would run them in the only thread of the page, where a pattern
 * of an agent could take very long. The server, whose regular expressions run in linear time, checks them when the form
 * is sent.
 *
 * Conditions that would be inverted without the pattern (`not`, `if`, `oneOf`) are removed too. The page therefore
 * accepts every value that the schema accepts, and possibly more.
 */
export function patternless(schema: RJSFSchema): RJSFSchema {
  return hasPattern(schema) ? (strip(schema) as RJSFSchema) : schema;
}

function hasPattern(part: unknown): boolean {
  if (Array.isArray(part)) return part.some(hasPattern);
  if (!isPart(part) || part instanceof Exact) return false;
  if (typeof part.pattern === 'string' || part.patternProperties !== undefined || isSlow(part.format)) return true;
  return Object.entries(part).some(([name, one]) => {
    if (VALUES.includes(name)) return false;
    return NAMED.includes(name) && isPart(one) ? Object.values(one).some(hasPattern) : hasPattern(one);
  });
}

// The target of a reference may contain a pattern.
function mayHavePattern(part: unknown): boolean {
  return (
    hasPattern(part) || JSON.stringify(part ?? null).includes('Ref"') || JSON.stringify(part ?? null).includes('$ref"')
  );
}

function isSlow(format: unknown): boolean {
  return typeof format === 'string' && SLOW_FORMATS.includes(format);
}

function strip(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(strip);
  if (!isPart(part) || part instanceof Exact) return part;
  const made: Part = {};
  for (const [name, one] of Object.entries(part)) {
    if (name === 'pattern' && typeof one === 'string') continue;
    if (['patternProperties', 'unevaluatedProperties', 'unevaluatedItems'].includes(name)) continue;
    if (name === 'format' && isSlow(one)) continue;
    if (name === 'additionalProperties' && part.patternProperties !== undefined) continue;
    if (['not', 'contains'].includes(name) && mayHavePattern(one)) continue;
    made[name] = stripped(name, one);
  }
  return withoutConditions(made, part);
}

function stripped(name: string, value: unknown): unknown {
  if (VALUES.includes(name)) return value;
  if (!NAMED.includes(name) || !isPart(value)) return strip(value);
  return Object.fromEntries(Object.entries(value).map(([own, one]) => [own, strip(one)]));
}

/** Removes conditions that depend on a pattern. The fields of the branches stay, and none of them is required. */
function withoutConditions(made: Part, before: Part): Part {
  if (mayHavePattern(before.oneOf)) {
    const { oneOf, ...rest } = made;
    made = rest.anyOf === undefined ? { ...rest, anyOf: oneOf } : rest;
  }
  if (!mayHavePattern(before.if)) return made;
  const { if: _, then: yes, else: no, ...rest } = made;
  const fields = { ...fieldsOf(no), ...fieldsOf(yes), ...fieldsOf(rest) };
  return Object.keys(fields).length === 0 ? rest : { ...rest, properties: fields };
}

function fieldsOf(part: unknown): Part {
  return isPart(part) && isPart(part.properties) ? part.properties : {};
}
