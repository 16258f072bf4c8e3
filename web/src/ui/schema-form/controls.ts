import type { RJSFSchema, UiSchema } from '@rjsf/utils';

type Part = Record<string, unknown>;

const LONG = 160;
const FEW = 4;

/** Which control draws which part of a schema. Agents describe data; how it looks is decided here and nowhere else. */
export function controlsFor(schema: RJSFSchema, value?: unknown): UiSchema {
  return controls(schema as Part, schema as Part, value, 0);
}

/** The parts of a schema that are written as JSON, and what they refer to. */
export function jsonParts(schema: RJSFSchema): ReadonlySet<object> {
  const found = new Set<object>();
  controls(schema as Part, schema as Part, undefined, 0, found);
  return found;
}

/** Where a flaw is shown: what is below a part written as JSON has no field but that one. */
export function fieldPath(drawn: UiSchema, path: readonly string[]): string[] {
  let now: UiSchema | undefined = drawn;
  for (const [depth, name] of path.entries()) {
    if (now?.['ui:field']) return path.slice(0, depth);
    now = now && (Object.hasOwn(now, name) ? now[name] : /^\d+$/u.test(name) ? now.items : undefined);
  }
  return [...path];
}

function controls(part: Part, root: Part, value: unknown, depth: number, json?: Set<object>): UiSchema {
  const schema = resolved(part, root);
  const own = control(schema, value);
  if (own['ui:field']) json?.add(part).add(referred(part, root) ?? part);
  if (depth > 12 || own['ui:field']) return own;
  const result: UiSchema = { ...own };
  const properties = schema.properties;
  if (isPart(properties)) {
    const order = ordered(schema, properties);
    if (order.length > 0) result['ui:order'] = [...order, '*'];
    for (const [name, child] of Object.entries(properties)) {
      if (isPart(child)) result[name] = controls(child, root, isPart(value) ? value[name] : undefined, depth + 1, json);
    }
  }
  if (isPart(schema.items) && !own['ui:widget'])
    result.items = controls(schema.items, root, first(value), depth + 1, json);
  return result;
}

/** JSON has no order of names: the server has noted the one that was written. Without it, what must be filled in comes first. */
function ordered(schema: Part, properties: Part): string[] {
  const said = [schema['x-order'], schema.required].find(Array.isArray) ?? [];
  return [...new Set<string>(said)].filter((name) => Object.hasOwn(properties, name));
}

function control(schema: Part, value: unknown): UiSchema {
  const { type, format } = schema;
  if (Array.isArray(schema.enum))
    return { 'ui:widget': schema.enum.length <= FEW && format !== 'select' ? 'radio' : 'select' };
  if (isChosen(schema)) return { 'ui:widget': 'select' };
  if (isJson(schema)) return { 'ui:field': 'JsonField' };
  if (type === 'boolean') return { 'ui:widget': format === 'checkbox' ? 'checkbox' : 'ToggleWidget' };
  if (type === 'array') {
    const items = schema.items;
    const enumerated = isPart(items) && Array.isArray(items.enum) && schema.uniqueItems === true;
    return enumerated ? { 'ui:widget': 'checkboxes' } : {};
  }
  if (type !== 'string') return {};
  if (format === 'data-url' || schema.contentEncoding === 'base64') return { 'ui:widget': 'file' };
  if (format === 'date') return { 'ui:widget': 'date' };
  if (format === 'date-time') return { 'ui:widget': 'DateTimeWidget' };
  if (format === 'password') return { 'ui:widget': 'password' };
  return isLong(schema, value) ? { 'ui:widget': 'textarea' } : { 'ui:widget': 'text' };
}

function isLong(schema: Part, value: unknown): boolean {
  const named = ['textarea', 'multiline', 'markdown', 'json'].includes(String(schema.format));
  const wide = typeof schema.maxLength === 'number' && schema.maxLength > LONG;
  return named || wide || (typeof value === 'string' && (value.includes('\n') || value.length > 80));
}

function isChosen({ oneOf, anyOf }: Part): boolean {
  const among = [oneOf, anyOf].find(Array.isArray);
  return Boolean(among?.length && among.every((one) => isPart(one) && 'const' in one));
}

// What no set of fields can draw is written as JSON: anything at all, free objects, lists of anything.
function isJson(schema: Part): boolean {
  if ('oneOf' in schema || 'anyOf' in schema || 'const' in schema || '$ref' in schema) return false;
  const { type } = schema;
  if (type === undefined) return !isPart(schema.properties);
  if (Array.isArray(type)) return type.filter((one) => one !== 'null').length !== 1;
  if (type === 'object') return !isPart(schema.properties) || Object.keys(schema.properties).length === 0;
  return type === 'array' && !isPart(schema.items);
}

function resolved(part: Part, root: Part): Part {
  const found = referred(part, root);
  return found ? { ...found, ...without(part, '$ref') } : part;
}

function referred(part: Part, root: Part): Part | undefined {
  const target = part.$ref;
  if (typeof target !== 'string' || !target.startsWith('#/')) return undefined;
  let found: unknown = root;
  for (const name of target.slice(2).split('/')) found = isPart(found) ? found[name] : undefined;
  return isPart(found) ? found : undefined;
}

function without(part: Part, name: string): Part {
  return Object.fromEntries(Object.entries(part).filter(([key]) => key !== name));
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined;
}

/** A schema for arguments that came without one: the same names and types as they have now. */
export function schemaOf(value: unknown): RJSFSchema {
  if (Array.isArray(value)) {
    const kinds = new Set(value.map((one) => typeof one));
    const plain = kinds.size === 1 && ['string', 'number', 'boolean'].includes([...kinds][0] ?? '');
    return plain ? { type: 'array', items: schemaOf(value[0]) } : {};
  }
  switch (typeof value) {
    case 'string':
      return { type: 'string' };
    case 'number':
      return { type: 'number' };
    case 'boolean':
      return { type: 'boolean' };
    case 'object': {
      if (value === null) return {};
      const properties = Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, { title: name, ...schemaOf(one) }]),
      );
      return { type: 'object', properties: properties as RJSFSchema['properties'] };
    }
    default:
      return {};
  }
}
