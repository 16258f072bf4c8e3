/** Pattern of a text that the server writes in English, and the key of its translation. Named groups are its values. */
export type ServerText = [RegExp, string];

/** The key and values of the first pattern that matches a text. */
export function matchText(
  texts: ServerText[],
  text: string,
): { key: string; values: Record<string, string> } | undefined {
  for (const [pattern, key] of texts) {
    const found = pattern.exec(text);
    if (found) return { key, values: { ...found.groups } };
  }
  return undefined;
}
