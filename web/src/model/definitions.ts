import type { Definition } from '@/api/types';
import { readJson } from '@/lib/exact';

/** All versions under one name, newest first, and the version that a new session would use. */
export interface Named {
  latest: Definition;
  versions: Definition[];
}

/** Groups the versions of a list by name. */
export function newest(list: readonly Definition[]): Named[] {
  const found = new Map<string, Definition[]>();
  for (const one of list) found.set(one.name, [...(found.get(one.name) ?? []), one]);
  return [...found.values()].map((all) => {
    const versions = [...all].sort((one, other) => (later(one, other) ? -1 : 1));
    const latest = versions.find((one) => !one.retired_at) ?? versions[0];
    return { latest: latest as Definition, versions };
  });
}

function later(one: Definition, other: Definition): boolean {
  if (one.added_at && other.added_at && one.added_at !== other.added_at) return one.added_at > other.added_at;
  return one.version.localeCompare(other.version, 'en', { numeric: true }) > 0;
}

/**
 * How the text for an agent is interpreted; `broken` is text that begins like JSON, is invalid, and is sent as text.
 */
export type InputFormat = 'nothing' | 'text' | 'json' | 'broken';

/** The task for an agent: parsed JSON if the text is JSON, otherwise the text; undefined if it is empty. */
export function inputOf(text: string): { as: InputFormat; value?: unknown } {
  const trimmed = text.trim();
  if (trimmed === '') return { as: 'nothing' };
  if (!/^[[{]/u.test(trimmed)) return { as: 'text', value: text };
  try {
    return { as: 'json', value: readJson(trimmed) };
  } catch {
    return { as: 'broken', value: text };
  }
}
