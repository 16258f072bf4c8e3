import type { Definition } from '@/api/types';

/** The versions of a list gathered by name: the one that a new session would use, and how many there are. */
export function newest(list: readonly Definition[]): { latest: Definition; versions: number }[] {
  const found = new Map<string, { latest: Definition; versions: number }>();
  for (const one of list) {
    const known = found.get(one.name);
    const better =
      !known || (known.latest.retired_at && !one.retired_at) || (!one.retired_at && later(one, known.latest));
    found.set(one.name, { latest: better ? one : known.latest, versions: (known?.versions ?? 0) + 1 });
  }
  return [...found.values()];
}

function later(one: Definition, other: Definition): boolean {
  if (one.added_at && other.added_at && one.added_at !== other.added_at) return one.added_at > other.added_at;
  return one.version.localeCompare(other.version, 'en', { numeric: true }) > 0;
}

/** What an agent is to work on: JSON where it is JSON, else the words themselves; nothing where nothing is said. */
export function inputOf(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  if (!/^[[{]/u.test(trimmed)) return text;
  try {
    return JSON.parse(trimmed);
  } catch {
    return text;
  }
}
