/** Joins class names. A component's own classes come first; a class that must override them ends with `!`. */
export function cn(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}
