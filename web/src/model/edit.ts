import type { Interaction } from '@/api/types';
import { fromFields, isBeyond, readJson, showJson } from '@/lib/exact';

type Values = Record<string, unknown>;

/** Parses the arguments from JSON text; undefined unless it is an object. */
export function readArguments(text: string): Values | undefined {
  try {
    const value = readJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * An edit of a call: the original and edited text, the parsed values, and whether they differ from the proposed
 * arguments.
 */
export interface Edited {
  before: string;
  text: string;
  values?: Values;
  changed: boolean;
}

export function editOf(question: Pick<Interaction, 'action'>, text?: string): Edited {
  const before = showJson(question.action?.arguments ?? {});
  const values = readArguments(text ?? before);
  return { before, text: text ?? before, values, changed: values !== undefined && showJson(values) !== before };
}

/** Whether the arguments were edited, even if the text is not valid JSON yet. */
export function editBegun(question: Pick<Interaction, 'action'>, text?: string): boolean {
  return text !== undefined && text !== editOf(question).before;
}

/** Splits the arguments into those that fields can hold and those with numbers that only JSON can hold. */
export function split(values: Values): { fields: Values; beyond: Values } {
  const parts = Object.entries(values);
  return {
    fields: Object.fromEntries(parts.filter(([, one]) => !isBeyond(one))),
    beyond: Object.fromEntries(parts.filter(([, one]) => isBeyond(one))),
  };
}

/** Combines the field values with the arguments that fields cannot hold, in the original order. */
export function joined(filled: Values, before: Values): Values {
  const { beyond } = split(before);
  const all = { ...(fromFields(filled, before) as Values), ...beyond };
  const names = [...Object.keys(before), ...Object.keys(all)];
  return Object.fromEntries(
    names.filter((name, at) => names.indexOf(name) === at && Object.hasOwn(all, name)).map((name) => [name, all[name]]),
  );
}

/** A schema without the properties of these names. */
export function schemaWithout(schema: Values, names: readonly string[]): Values {
  if (names.length === 0 || typeof schema.properties !== 'object' || schema.properties === null) return schema;
  const kept = Object.entries(schema.properties).filter(([name]) => !names.includes(name));
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => !names.includes(name)) : [];
  return { ...schema, properties: Object.fromEntries(kept), required };
}

/**
 * The declared schema, with the derived schema of arguments that it does not declare, so that every argument has a
 * field.
 */
export function withSeen(declared: Values | undefined, seen: Values): Values {
  const names = declared?.properties;
  if (!declared || typeof names !== 'object' || names === null) return declared?.$ref ? declared : seen;
  return { ...declared, properties: { ...(seen.properties as Values), ...names } };
}
