import type { TFunction } from 'i18next';
import { detailOf } from './details';
import { matchText, type ServerText } from './server-text';

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

// Reasons of the server, with their values; where a key has two texts, one is that of 0.1.
const REASONS: ServerText[] = [
  [/^(?<number>\d+) more (?:suggestions were not checked|were not looked at)$/u, 'more'],
  [/^`suggestions` is not a list$/u, 'notList'],
  [/^it is not a suggestion: (?<error>.+)$/su, 'unreadable'],
  [/^the agent's version does not allow (?:its model )?this suggestion$/u, 'notAllowed'],
  [/^the option `(?<option>[^`]+)` is not allowed$/u, 'option'],
  [/^its data is not an object of parameters$/u, 'data'],
  [/^the parameter `(?<name>[^`]+)` is not allowed$/u, 'parameter'],
  [/^the parameter `(?<name>[^`]+)` may not have this value$/u, 'value'],
  [/^there is a suggestion of this id already$/u, 'twice'],
  [/^there are (?<number>\d+) suggestions already$/u, 'tooMany'],
  [/^a question must not contain a secret$/u, 'secret'],
  [/^it chooses an option that the question does not have$/u, 'noOption'],
  [/^its (?<field>\S+) (?<problem>.+)$/u, 'field'],
];

/** Why a suggestion is not offered; unknown reasons are returned unchanged. */
export function droppedReason(t: TFunction, reason: string): string {
  const found = matchText(REASONS, reason);
  if (!found) return reason;
  const { problem, ...values } = found.values as { problem?: string; option: string };
  const known = problem ? { ...values, problem: detailOf(t, problem) } : values;
  return t(`suggestions.reasons.${found.key as 'option'}`, known);
}
