/** One part of a schema. */
export type Part = Record<string, unknown>;

export function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The definition that a part finally refers to, if it is in this schema and exists. */
export function referred(part: Part, root: Part): Part | undefined {
  let found: unknown = part;
  for (let hops = 0; hops < 12 && isPart(found) && typeof found.$ref === 'string'; hops += 1) {
    if (!/^#(\/|$)/u.test(found.$ref)) return undefined;
    const names = found.$ref.split('/').slice(1);
    found = names.reduce<unknown>((place, name) => (isPart(place) ? place[unescaped(name)] : undefined), root);
  }
  return isPart(found) && found !== part && !refers(found) ? found : undefined;
}

export function refers({ $ref }: Part): boolean {
  return typeof $ref === 'string';
}

/** Decodes a name in a URI fragment that is a JSON Pointer. */
export function unescaped(name: string): string {
  return decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Subschemas that apply in addition or conditionally; the forms library draws them with the part's own fields. */
export function branches(part: Part): Part[] {
  const { allOf, dependentSchemas, dependencies } = part;
  const dependent = [dependentSchemas, dependencies].filter(isPart).flatMap((one) => Object.values(one));
  return [...(Array.isArray(allOf) ? allOf : []), part.then, part.else, ...dependent].filter(isPart);
}

export function alternatives({ oneOf, anyOf }: Part): Part[] {
  return [oneOf, anyOf].flatMap((list) => (Array.isArray(list) ? list.filter(isPart) : []));
}

export function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined;
}
