/** Facts of the server's parsers about a call that the page uses. */
export interface Facts {
  shell?: (Unparsed & Partial<Record<ShellRisk, boolean>> & { doubt?: Doubt }) | null;
  paths?: (Unparsed & { canonical?: string; escapes?: boolean; steers?: boolean })[] | null;
  url?: (Unparsed & { scheme?: string; private?: boolean; userinfo?: boolean; non_ascii?: boolean }) | null;
  sql?: (Unparsed & { statements?: Statement[]; verbs?: string[]; doubt?: Doubt }) | null;
}

interface Unparsed {
  unparsed?: string;
}

type Doubt = { reason: string } | null;
type Statement = { verb: string; has_where: boolean };

const SHELL = [
  'elevated',
  'remote',
  'dynamic',
  'opaque',
  'substitutions',
  'background',
  'globs',
  'cwd_changed',
] as const;

type ShellRisk = (typeof SHELL)[number];
export type Risk =
  | ShellRisk
  | 'escapes'
  | 'steers'
  | 'private'
  | 'userinfo'
  | 'non_ascii'
  | 'unencrypted'
  | 'every_row'
  | 'destroys';

/** Risks to point out, derived from the parsed command, paths, URL and SQL. */
export function risksOf({ shell, paths, url, sql }: Facts): Risk[] {
  const some = (fact: 'escapes' | 'steers') => paths?.some((path) => path[fact]) ?? false;
  const unlimited = ({ verb, has_where }: Statement) => ['update', 'delete'].includes(verb) && !has_where;
  const found: [Risk, boolean | undefined][] = [
    ...SHELL.map((name): [Risk, boolean | undefined] => [name, shell?.[name]]),
    ['escapes', some('escapes')],
    ['steers', some('steers')],
    ['private', url?.private],
    ['userinfo', url?.userinfo],
    ['non_ascii', url?.non_ascii],
    ['unencrypted', url?.scheme === 'http'],
    ['every_row', sql?.statements?.some(unlimited)],
    ['destroys', sql?.verbs?.some((verb) => ['drop', 'truncate'].includes(verb))],
  ];
  return found.filter(([, is]) => is).map(([name]) => name);
}

/** Reasons why parts of the call could not be parsed, or why a parsed part cannot be fully predicted. */
export function doubtsOf({ shell, paths, url, sql }: Facts): { unparsed: string[]; doubted: string[] } {
  const reasons = (texts: (string | undefined)[]) => [...new Set(texts.filter((text) => text !== undefined))];
  return {
    unparsed: reasons([shell, ...(paths ?? []), url, sql].map((part) => part?.unparsed)),
    doubted: reasons([shell, sql].map((part) => part?.doubt?.reason)),
  };
}
