import type { RJSFSchema, UiSchema } from '@rjsf/utils';
import { ANYTHING } from './drawable';
import { branches, first, isPart, type Part, referred, refers } from './parts';

const LONG = 160;
const FEW = 4;
const JSON_FIELD = { 'ui:field': 'JsonField' };

interface Look {
  root: Part;
  /** Remaining number of schema parts to visit; bounds recursive schemas. */
  left: number;
  /** Parts that are written as JSON, and the definitions that they refer to. */
  json: Set<object>;
  /** Parts that refer to a definition that contains them, or that does not exist. */
  again: Set<object>;
}

const MOST = 3000;

/** Chooses the control of each part of a schema. Agents describe only data; the appearance is decided here. */
export function controlsFor(schema: RJSFSchema, value?: unknown): UiSchema {
  return looked(schema, value).drawn;
}

/** Parts of a schema that are written as JSON, and the definitions that they refer to. */
export function jsonParts(schema: RJSFSchema): ReadonlySet<object> {
  return looked(schema).look.json;
}

/** Makes a recursive schema finite: a part that recurs accepts any JSON here, and only the server validates it. */
export function ending(schema: RJSFSchema): RJSFSchema {
  const { again } = looked(schema).look;
  const cut = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(cut);
    if (!isPart(part)) return part;
    const { $ref, ...rest } = part;
    const left = again.has(part) ? { ...ANYTHING, ...rest } : part;
    return Object.fromEntries(Object.entries(left).map(([name, one]) => [name, cut(one)]));
  };
  return again.size > 0 ? (cut(schema) as RJSFSchema) : schema;
}

function looked(schema: RJSFSchema, value?: unknown): { drawn: UiSchema; look: Look } {
  const look = { root: schema as Part, left: MOST, json: new Set<object>(), again: new Set<object>() };
  return { drawn: controls(schema as Part, look, value, [schema as Part]), look };
}

/**
 * Path of the field at which an error is shown. An error inside a part written as JSON belongs to the field of that
 * part.
 */
export function fieldPath(drawn: UiSchema, path: readonly string[]): string[] {
  let now: UiSchema | undefined = drawn;
  for (const [depth, name] of path.entries()) {
    if (now?.['ui:field']) return path.slice(0, depth);
    now = now && below(now, name);
  }
  return [...path];
}

function below(drawn: UiSchema, name: string): UiSchema | undefined {
  if (Object.hasOwn(drawn, name)) return drawn[name];
  const among: UiSchema[] = drawn.oneOf ?? drawn.anyOf ?? [];
  const found = among.map((one) => (one['ui:field'] ? one : below(one, name))).find((one) => one !== undefined);
  return found ?? (/^\d+$/u.test(name) ? (drawn.items as UiSchema | undefined) : undefined);
}

/**
 * `above` lists the definitions that contain the part. A recursive definition would be drawn without end, and a missing
 * one cannot be drawn, so both are written as JSON.
 */
function controls(part: Part, look: Look, value: unknown, above: readonly Part[]): UiSchema {
  const definition = referred(part, look.root);
  const again = definition ? above.includes(definition) : refers(part);
  const schema = resolved(part, look.root);
  const own: UiSchema = again ? JSON_FIELD : control(schema, look.root, value);
  if (own['ui:field']) {
    look.json.add(part);
    if (again) look.again.add(part);
    else if (definition) look.json.add(definition);
    return own;
  }
  return { ...own, ...within(schema, look, value, definition ? [...above, definition] : above) };
}

/** Controls of the nested parts: fields, conditional fields, alternatives and list items. */
function within(schema: Part, look: Look, value: unknown, above: readonly Part[]): UiSchema {
  const result: UiSchema = {};
  if (look.left <= 0) return result;
  look.left -= 1;
  const fields = isPart(schema.properties) ? schema.properties : {};
  const order = ordered(schema, fields);
  if (order.length > 0) result['ui:order'] = [...order, '*'];
  for (const [name, child] of Object.entries(fields)) {
    if (isPart(child)) result[name] = controls(child, look, isPart(value) ? value[name] : undefined, above);
  }
  for (const branch of branches(schema)) {
    const { 'ui:order': _, ...brought } = within(resolved(branch, look.root), look, value, above);
    for (const [name, drawn] of Object.entries(brought)) result[name] ??= drawn;
  }
  for (const name of ['oneOf', 'anyOf'] as const) {
    const among = schema[name];
    if (!Array.isArray(among) || isChosen(schema)) continue;
    // An alternative that only adds conditions to existing fields has no field of its own.
    const beside = Object.keys(fields).length > 0;
    result[name] = among.map((one) => {
      if (!isPart(one)) return {};
      return beside ? within(resolved(one, look.root), look, value, above) : controls(one, look, value, above);
    });
  }
  const more = schema.additionalProperties;
  if (isPart(more)) result.additionalProperties = controls(more, look, undefined, above);
  if (isPart(schema.items) && !isMany(schema)) result.items = controls(schema.items, look, first(value), above);
  return result;
}

/**
 * JSON objects have no order, so the server stores the order of the agent in `x-order`. Without it, required fields
 * come first.
 */
function ordered(schema: Part, properties: Part): string[] {
  const said = [schema['x-order'], schema.required].find(Array.isArray) ?? [];
  return [...new Set<string>(said)].filter((name) => Object.hasOwn(properties, name));
}

function control(schema: Part, root: Part, value: unknown): UiSchema {
  const { format } = schema;
  const type = alone(schema.type);
  if (Array.isArray(schema.enum))
    return { 'ui:widget': schema.enum.length <= FEW && format !== 'select' ? 'radio' : 'select' };
  if (isChosen(schema)) return { 'ui:widget': 'select' };
  if ('const' in schema) return { 'ui:widget': 'radio' };
  if (isJson(schema, root)) return JSON_FIELD;
  if (type === 'boolean' && type !== schema.type) return { 'ui:widget': 'MaybeWidget' };
  if (type === 'boolean') return { 'ui:widget': format === 'checkbox' ? 'checkbox' : 'ToggleWidget' };
  if (type === 'array') return isMany(schema) ? { 'ui:widget': 'checkboxes' } : {};
  if (type !== 'string') return {};
  if (format === 'data-url' || schema.contentEncoding === 'base64') return { 'ui:widget': 'file' };
  if (format === 'date') return { 'ui:widget': 'date' };
  if (format === 'date-time') return { 'ui:widget': 'DateTimeWidget' };
  if (format === 'password') return { 'ui:widget': 'password' };
  return isLong(schema, value) ? { 'ui:widget': 'textarea' } : { 'ui:widget': 'text' };
}

/** The single type of a part, ignoring `null`. */
function alone(type: unknown): unknown {
  const kinds = Array.isArray(type) ? type.filter((one) => one !== 'null') : [type];
  return kinds.length === 1 ? kinds[0] : type;
}

function isLong(schema: Part, value: unknown): boolean {
  const named = ['textarea', 'multiline', 'markdown', 'json'].includes(String(schema.format));
  const wide = typeof schema.maxLength === 'number' && schema.maxLength > LONG;
  return named || wide || (typeof value === 'string' && (value.includes('\n') || value.length > 80));
}

/** A multi-select from a fixed list. */
function isMany({ type, items, uniqueItems }: Part): boolean {
  return type === 'array' && isPart(items) && Array.isArray(items.enum) && uniqueItems === true;
}

function isChosen({ oneOf, anyOf }: Part): boolean {
  const among = [oneOf, anyOf].find(Array.isArray);
  return Boolean(among?.length && among.every((one) => isPart(one) && 'const' in one));
}

// A part that no set of fields can represent is written as JSON: any value, free objects, lists of any values.
function isJson(schema: Part, root: Part): boolean {
  if ('oneOf' in schema || 'anyOf' in schema || 'const' in schema || '$ref' in schema) return false;
  const { type } = schema;
  if ((type === undefined || type === 'object') && isJoined(schema, root)) return false;
  if (type === undefined) return !isPart(schema.properties);
  if (Array.isArray(type)) return type.filter((one) => one !== 'null').length !== 1;
  if (type === 'object') return !isPart(schema.properties) || Object.keys(schema.properties).length === 0;
  return type === 'array' && !isPart(schema.items);
}

/** Whether the fields of a part come from several schemas in `allOf`. */
function isJoined({ allOf }: Part, root: Part): boolean {
  const among = Array.isArray(allOf) ? allOf.filter(isPart) : [];
  return among.some((one) => isPart(resolved(one, root).properties));
}

function resolved(part: Part, root: Part): Part {
  const found = referred(part, root);
  return found ? { ...found, ...without(part, '$ref') } : part;
}

function without(part: Part, name: string): Part {
  return Object.fromEntries(Object.entries(part).filter(([key]) => key !== name));
}

/** Derives a schema from arguments that have none: their names and types. */
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
