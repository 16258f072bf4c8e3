import type { Interaction } from '@/api/types';
import { Exact } from '@/lib/exact';

/** Source of the text before a change. */
export type Word = 'call' | 'server' | 'agent';

/**
 * The subject of a call, which decides how the page shows it. `drawn` lists the arguments that this view shows; all
 * others are shown separately, even if they are synonyms. `word` is the source of the previous text: the call itself,
 * the server, which has read it, or only the agent's claim.
 */
export type Subject =
  | { is: 'command'; drawn: string[]; text: string }
  | { is: 'file'; drawn: string[]; path: string; before?: string; word: Word; after: string }
  | { is: 'sql'; drawn: string[]; text: string }
  | { is: 'other'; drawn: string[] };

const COMMANDS = ['command', 'cmd', 'script'];
const EDITS = ['view', 'create', 'str_replace', 'insert', 'undo_edit'];
const ADDRESSES = ['url', 'uri'];
const PATHS = ['path', 'file', 'file_path', 'filename', 'filepath'];
const CONTENTS = ['content', 'contents', 'text', 'new_content', 'body'];
const BEFORE = ['before', 'old_content', 'current', 'current_content', 'original', 'previous'];
const PAIRS = [
  ['old_string', 'new_string'],
  ['old_str', 'new_str'],
  ['old_text', 'new_text'],
  ['search', 'replace'],
] as const;

type Values = Record<string, unknown>;

/** A command is shown before a file: a reviewer who approves a command must not be shown only the file beside it. */
export function subjectOf(call: { tool: string; arguments: Values }, context?: unknown, driven?: boolean): Subject {
  const values = call.arguments;
  const file = fileOf(values, context, driven);
  const command = textAt(values, COMMANDS);
  // Tools that edit files have an argument named `command` for the kind of edit. Such a call is shown as a file.
  if (command && !(file && EDITS.includes(command.text)))
    return { is: 'command', drawn: [command.name], text: command.text };
  const sql = textAt(values, ['sql', 'statement']);
  if (sql) return { is: 'sql', drawn: [sql.name], text: sql.text };
  // A call with an address sends something there, so it is not a file even if it has a path.
  if (textAt(values, ADDRESSES)) return { is: 'other', drawn: [] };
  return file ?? { is: 'other', drawn: [] };
}

function fileOf(values: Values, context?: unknown, driven?: boolean): Subject | undefined {
  const path = textAt(values, PATHS);
  const pair = PAIRS.find(([old, next]) => typeof values[old] === 'string' && typeof values[next] === 'string');
  if (path && pair) {
    return {
      is: 'file',
      drawn: [path.name, ...pair],
      path: path.text,
      before: values[pair[0]] as string,
      word: 'call',
      after: values[pair[1]] as string,
    };
  }
  const content = textAt(values, CONTENTS);
  if (!path || !content) return undefined;
  const known = isValues(context) ? textAt(context, BEFORE) : undefined;
  return {
    is: 'file',
    drawn: [path.name, content.name],
    path: path.text,
    before: known?.text,
    word: driven ? 'server' : 'agent',
    after: content.text,
  };
}

function textAt(values: Values, names: readonly string[]): { name: string; text: string } | undefined {
  for (const name of names) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (typeof value === 'string') return { name, text: value };
    if (name === 'command' && Array.isArray(value) && value.every((word) => typeof word === 'string')) {
      return { name, text: value.map(quoted).join(' ') };
    }
  }
  return undefined;
}

// Quotes a word for display, so that the words of a command can be told apart.
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Exact);
}

/** The agent's context without the parts that the diff already shows. */
export function contextBeside(question: Pick<Interaction, 'action' | 'context'>): unknown {
  const { action, context } = question;
  if (!action || !isValues(context)) return context;
  const subject = subjectOf({ tool: action.tool, arguments: action.arguments as Values }, context);
  if (subject.is !== 'file' || subject.before === undefined) return context;
  const rest = Object.entries(context).filter(([name, value]) => !(BEFORE.includes(name) && value === subject.before));
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

/** The call that people approved: the edited arguments, or the proposed ones. */
export function approvedCall({ action, resolution }: Pick<Interaction, 'action' | 'resolution'>) {
  return action && { tool: action.tool, arguments: resolution?.answer?.arguments ?? action.arguments };
}

/** The call in one line for a list row, and the number of arguments that the line leaves out. */
export interface Line {
  text: string;
  more: number;
}

export function callLine(action: { tool: string; arguments: unknown } | null | undefined): Line | undefined {
  if (!action) return undefined;
  const values = action.arguments as Values;
  const subject = subjectOf({ tool: action.tool, arguments: values });
  const count = Object.keys(values).length;
  if (subject.is === 'command' || subject.is === 'sql') return { text: subject.text, more: count - 1 };
  // A file is shown by its path and the name of the tool.
  if (subject.is === 'file') return { text: `${action.tool} ${subject.path}`, more: count - subject.drawn.length };
  const shown = Object.entries(values)
    .filter(([, value]) => value instanceof Exact || ['string', 'number', 'boolean'].includes(typeof value))
    .sort(([a], [b]) => Number(ADDRESSES.includes(b)) - Number(ADDRESSES.includes(a)))
    .slice(0, 3);
  return { text: [action.tool, ...shown.map(([, value]) => String(value))].join(' '), more: count - shown.length };
}
