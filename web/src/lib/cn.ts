/** Joins class names. A component's own come first; what must win over them says so with `!`. */
export function cn(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}
