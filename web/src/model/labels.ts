import type { TFunction } from 'i18next';
import type { Interaction, Option, Session } from '@/api/types';
import type { Move } from './moves';

// The words that the server gives its usual options. Only these are translated: what an agent has named stays as named.
const USUAL: Record<string, string> = {
  approve: 'Approve',
  edit: 'Edit and approve',
  retry: 'Think again',
  reject: 'Reject',
  terminate: 'Reject and end the session',
  confirm: 'Confirm',
  cancel: 'Cancel',
  revise: 'Revise',
  // Of the question about an unknown outcome.
  it_ran: 'It ran',
  it_failed: 'It did not run, or failed',
  run_again: 'Run it again',
  leave: 'Leave it unknown',
};

/** Whether the server has named this option itself, by its effect. */
export function isNamedByEffect({ id, label, effect }: Pick<Option, 'id' | 'label' | 'effect'>): boolean {
  return id === effect && USUAL[id] === label;
}

/** What a button for this option says. */
export function moveLabel(t: TFunction, option: Pick<Option, 'id' | 'label'>): string {
  return USUAL[option.id] === option.label ? t(`moves.${option.id}` as 'moves.approve') : option.label;
}

/** What a button for this answer says. */
export function moveName(t: TFunction, { kind }: Pick<Interaction, 'kind'>, { key, option }: Move): string {
  if (option) return moveLabel(t, option);
  if (kind === 'notice' && key === 'provide') return t('moves.seen');
  return t(`moves.${key as 'provide'}`);
}

/** Label of the button that sends an answer from its panel. */
export function sendLabel(t: TFunction, question: Pick<Interaction, 'kind'>, move: Move): string {
  const sendsBack = move.option?.id === 'retry' && move.option.label === USUAL.retry;
  return sendsBack ? t('moves.sendBack') : moveName(t, question, move);
}

/** What a question is called: the server's own words for a call are translated, an agent's stay as they are. */
export function titleOf(t: TFunction, { kind, title, action }: Pick<Interaction, 'kind' | 'title' | 'action'>): string {
  if (!action) return title;
  const { tool } = action;
  if (kind === 'approval' && title === `Run ${tool}`) return t('question.run', { tool });
  if (kind === 'choice' && title === `What became of ${tool}?`) return t('question.outcome.title', { tool });
  return title;
}

// What the server says by itself, without anybody's policy.
const REASONS = {
  'No rule matches this call.': 'none',
  'It changes files or runs a program.': 'changes',
} as const;

/** The reason of a ruling: the server's own words are translated, those of a policy stay. What the server has found besides stands behind its first sentence. */
export function rulingReason(t: TFunction, text: string): string {
  const own = Object.keys(REASONS).find((reason) => text.startsWith(reason));
  if (!own) return text;
  const rest = text.slice(own.length);
  if (rest !== '' && !rest.startsWith(' ')) return text;
  return t(`question.reasons.${REASONS[own as keyof typeof REASONS]}`) + rest;
}

const UNKNOWN_OUTCOME = 'It was started, and its outcome was never reported. It may have run, wholly or in part.';

/** Why a call is asked about: the server's own words are translated, those of a policy or an agent stay as they are. */
export function messageOf(t: TFunction, { message, asked_by_rule }: Pick<Interaction, 'message' | 'asked_by_rule'>) {
  if (message === UNKNOWN_OUTCOME) return t('question.outcome.message');
  return asked_by_rule && message ? rulingReason(t, message) : message;
}

// Why the server itself has ended something.
const END_REASONS = {
  'nobody answered in time': 'unanswered',
  'its outcome was not reported in time': 'unreported',
  'the lease ran out': 'lease',
  'its question was closed': 'closed',
  'the agent has reported what became of it': 'reported',
  'it was allowed, and was not started in time': 'unstarted',
} as const;

/** A reason: the server's own words are translated, those of people and agents stay as they are. */
export function reasonOf(t: TFunction, reason: string): string {
  return Object.hasOwn(END_REASONS, reason)
    ? t(`question.endReasons.${END_REASONS[reason as keyof typeof END_REASONS]}`)
    : reason;
}

/** Who asks: whoever holds the key, and where the session is another agent's, that too. */
export function askerOf(
  t: TFunction,
  { agent, asked_by, driven }: Pick<Interaction, 'agent' | 'asked_by' | 'driven'>,
): string {
  if (!agent || agent === asked_by.name) return asked_by.name;
  return driven ? agent : t('question.asker', { name: asked_by.name, agent });
}

/** What a session is called: by its title, or by what runs in it. */
export function sessionName(t: TFunction, session?: Pick<Session, 'title' | 'flow' | 'agent'>): string {
  return session?.title || session?.flow || session?.agent || t('session.untitled');
}

const PROMPT = 'What should be different?';

/** What a person is asked for with this option. */
export function promptOf(t: TFunction, option?: Pick<Option, 'input_prompt'>): string | undefined {
  const prompt = option?.input_prompt ?? undefined;
  return prompt === PROMPT ? t('moves.prompt') : prompt;
}
