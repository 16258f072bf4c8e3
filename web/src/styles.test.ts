import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type Colour = [number, number, number];

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');
const styles = read('./styles.css');

/** Resolves a named colour for the light or dark theme, mixed with its background at the opacity that a class sets. */
function colour(word: string, dark: boolean, behind?: Colour): Colour {
  const [name = '', share = '100'] = word.split('/');
  const found = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`, 'u').exec(styles)?.[dark ? 2 : 1];
  if (!found) throw new Error(`no colour ${name}`);
  const part = Number(share) / 100;
  const at = (place: number) =>
    Number.parseInt(found.slice(1 + 2 * place, 3 + 2 * place), 16) * part + (behind?.[place] ?? 0) * (1 - part);
  return [at(0), at(1), at(2)];
}

/** Contrast ratio as WCAG defines it. */
function ratio(one: Colour, other: Colour): number {
  const light = (colour: Colour) => {
    const [r = 0, g = 0, b = 0] = colour.map((value) =>
      value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [low = 0, high = 0] = [light(one), light(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** The colour that a file uses with a class prefix such as `bg-`. */
function named(file: string, prefix: string): string {
  const found = new RegExp(`${prefix}([a-z]+(?:/\\d+)?)`, 'u').exec(read(file))?.[1];
  if (!found) throw new Error(`no ${prefix} in ${file}`);
  return found;
}

const FIELD = './ui/field.tsx';
const BARS = './features/insights/over-time.tsx';
const outcome = (name: string, part: 'fill' | 'bg') => named(BARS, `${name}: '${part}-`);

test.each([
  ['a placeholder', named(FIELD, 'placeholder:text-'), ['surface'], 4.5],
  ['the border of a field', named(FIELD, ' border-'), ['surface', 'page'], 3],
  ['the border of a field of a form', named('./styles/form.css', 'border: 1px solid var\\(--'), ['surface', 'page'], 3],
  ['the border of a switch', named('./ui/schema-form/widgets.tsx', ": 'border-"), ['surface', 'page'], 3],
  ...['answered', 'auto_resolved', 'expired', 'cancelled'].flatMap((name): [string, string, string[], number][] => [
    [`the bar of what was ${name}`, outcome(name, 'fill'), ['surface'], 3],
    [`the mark of what was ${name}`, outcome(name, 'bg'), ['surface'], 3],
  ]),
  ['text of less weight', 'muted', ['surface', 'page', 'sunken', 'hover'], 4.5],
  ['the outline of what has the focus', 'accent', ['surface', 'page', 'sunken', 'hover', 'accent-soft'], 3],
])('%s has enough contrast', (_, word, grounds, least) => {
  for (const dark of [false, true])
    for (const name of grounds) {
      const ground = colour(name, dark);
      expect(ratio(colour(word, dark, ground), ground), `${word} on ${name}, dark: ${dark}`).toBeGreaterThanOrEqual(
        least,
      );
    }
});
