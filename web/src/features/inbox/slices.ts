/** Splits a list into parts of at most `most` items. */
export function slices<T>(list: readonly T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / most) }, (_, at) => list.slice(at * most, (at + 1) * most));
}
