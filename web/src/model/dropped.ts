/** A suggestion of a model that people are not offered. */
export interface Dropped {
  id: string;
  reason: string;
}

/** What was left out of a question's suggestions, as its metadata says; metadata of any other shape says nothing. */
export function droppedOf(metadata: unknown): Dropped[] {
  const list = (metadata as { dropped_suggestions?: unknown } | null | undefined)?.dropped_suggestions;
  if (!Array.isArray(list)) return [];
  return list.filter(
    (one: Partial<Dropped> | null): one is Dropped => typeof one?.id === 'string' && typeof one.reason === 'string',
  );
}
