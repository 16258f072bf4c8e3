/** A model's suggestion that is not offered to people. */
export interface Dropped {
  id: string;
  reason: string;
}

/** Suggestions left out of a question, read from its metadata; metadata of another shape yields none. */
export function droppedOf(metadata: unknown): Dropped[] {
  const list = (metadata as { dropped_suggestions?: unknown } | null | undefined)?.dropped_suggestions;
  if (!Array.isArray(list)) return [];
  return list.filter(
    (one: Partial<Dropped> | null): one is Dropped => typeof one?.id === 'string' && typeof one.reason === 'string',
  );
}
