import type { TFunction } from 'i18next';
import type { Interaction, Option, Session } from '@/api/types';
import type { Move } from './moves';
import { matchText, type ServerText } from './server-text';

// Labels that the server gives its default options, and those that it gave in 0.1. Only these are translated; labels of
// agents stay unchanged.
const USUAL: Record<string, string[]> = {
  approve: ['Approve'],
  edit: ['Edit and approve'],
  retry: ['Ask for changes', 'Think again'],
  reject: ['Reject'],
  terminate: ['Reject and end the session'],
  confirm: ['Confirm'],
  cancel: ['Cancel'],
  revise: ['Ask for changes', 'Revise'],
  // Of the question about an unknown outcome.
  it_ran: ['It ran'],
  it_failed: ['It did not run, or failed'],
  run_again: ['Run it again'],
  leave: ['Leave it unknown'],
};

function hasUsualLabel({ id, label }: Pick<Option, 'id' | 'label'>): boolean {
  return Object.hasOwn(USUAL, id) && USUAL[id]?.includes(label) === true;
}

/** Whether the server named this option after its effect. */
export function isNamedByEffect({ id, label, effect }: Pick<Option, 'id' | 'label' | 'effect'>): boolean {
  return id === effect && hasUsualLabel({ id, label });
}

/** Label of the button for this option. */
export function moveLabel(t: TFunction, option: Pick<Option, 'id' | 'label'>): string {
  return hasUsualLabel(option) ? t(`moves.${option.id}` as 'moves.approve') : option.label;
}

/** Label of the button for this answer. */
export function moveName(t: TFunction, { kind }: Pick<Interaction, 'kind'>, { key, option }: Move): string {
  if (option) return moveLabel(t, option);
  if (kind === 'notice' && key === 'provide') return t('moves.seen');
  return t(`moves.${key as 'provide'}`);
}

/** Label of the button that sends an answer from its panel. */
export function sendLabel(t: TFunction, question: Pick<Interaction, 'kind'>, move: Move): string {
  const { option } = move;
  const sendsBack = option !== undefined && ['retry', 'revise'].includes(option.id) && hasUsualLabel(option);
  return sendsBack ? t('moves.sendBack') : moveName(t, question, move);
}

/** Title of a question: a title that the server generated is translated, a title of an agent stays unchanged. */
export function titleOf(t: TFunction, { kind, title, action }: Pick<Interaction, 'kind' | 'title' | 'action'>): string {
  if (!action) return title;
  const { tool } = action;
  if (kind === 'approval' && title === `Run ${tool}`) return t('question.run', { tool });
  if (kind === 'choice' && [`What happened to ${tool}?`, `What became of ${tool}?`].includes(title))
    return t('question.outcome.title', { tool });
  return title;
}

// Reasons that the server gives for a ruling, with their values; `rest` is what it found in the call.
const REASONS: ServerText[] = [
  [/^No rule matches this call\.(?<rest> .+)?$/su, 'none'],
  [/^No rule matches a part of this call\.(?<rest> .+)?$/su, 'nonePart'],
  [/^It changes files or runs a program\.(?<rest> .+)?$/su, 'changes'],
  [/^Reading changes nothing\.$/u, 'reading'],
  [/^It does not fit the schema of its tool: (?<why>.+)\.$/su, 'misfit'],
  [/^Rule `(?<rule>[^`]+)` could not be evaluated: (?<why>.+?)\.(?<rest> (?:Its|It has|Rules) .+)?$/su, 'failed'],
  [/^(?:approvals are paused|the policy is switched off) by (?<name>[^:]+): (?<why>.+)$/su, 'paused'],
];

// Findings that follow a reason.
const FINDINGS: ServerText[] = [
  [/^ Its (?<part>shell|path|url|sql|arguments) is not trusted: (?<why>.+?)\.(?<rest> Rules .+)?$/su, 'doubt'],
  [
    /^ It has `(?<argument>[^`]+)` beside its (?<part>shell|path|url|sql): [^.]+ must test that argument too\.(?<rest> Rules .+)?$/su,
    'beside',
  ],
  [/^ Rules that ask about it too: (?<rules>.+?)\.(?<rest> (?:Not allowed|Denied) because of .+)?$/su, 'also'],
  [/^ Not allowed because of (?<blamed>[^;]+?)(?:; [^`]+ allowed by (?<rules>.+?))?\.(?<rest> Rule `.+)?$/su, 'blamed'],
  [/^ Denied because of (?<blamed>[^;]+?)(?:; [^`]+ allowed by (?<rules>.+?))?\.(?<rest> Rule `.+)?$/su, 'denied'],
  [/^ Rule `(?<rule>[^`]+)` does not match: (?<why>.+)\.$/su, 'nearest'],
];

// Kinds of parts of a call before their text in a reason.
const PARTS: ServerText[] = [
  [/^writing to (?<text>`.+`)$/su, 'write'],
  [/^the variable (?<text>`.+`)$/su, 'variable'],
  [/^the directory (?<text>`.+`)$/su, 'directory'],
  [/^the address (?<text>`.+`)$/su, 'address'],
  [/^a text that cannot be judged \((?<text>.+)\)$/su, 'doubt'],
];

/** The reason of a ruling: text of the server is translated, text of a policy and reasons of the parsers stay unchanged. */
export function rulingReason(t: TFunction, text: string): string {
  const found = matchText(REASONS, text);
  if (!found) {
    // The reason of a rule of the policy, to which the server adds the parts of the call.
    const [reason = '', parts] = text.split(/(?= (?:Not allowed|Denied) because of )/su);
    return parts ? reason + finding(t, parts) : text;
  }
  const { rest, ...values } = found.values as { rest?: string; why?: string };
  if (values.why === 'no reason was given') values.why = t('question.reasons.noReason');
  return t(`question.reasons.${found.key as 'none'}`, values) + finding(t, rest);
}

function finding(t: TFunction, text = ''): string {
  const found = matchText(FINDINGS, text);
  if (!found) return text;
  const { rest, part, blamed, rules, ...others } = found.values as Record<string, string | undefined>;
  if (blamed) {
    const named = blamed.split(', ').map((one) => callPart(t, one));
    const allowed = rules ? t('question.reasons.allowed', { rules }) : '';
    return ` ${t(`question.reasons.${found.key as 'blamed'}`, { parts: named.join(', '), allowed })}${finding(t, rest)}`;
  }
  const values = rules ? { ...others, rules } : others;
  const parts = found.key === 'beside' ? 'besideParts' : 'parts';
  const known = part ? { ...values, part: t(`question.reasons.${parts}.${part as 'shell'}`) } : values;
  return ` ${t(`question.reasons.${found.key as 'none'}`, known)}${finding(t, rest)}`;
}

/** A part of a call, as a reason names it. */
function callPart(t: TFunction, text: string): string {
  const found = matchText(PARTS, text);
  return found ? t(`question.reasons.callParts.${found.key as 'write'}`, { text: found.values.text ?? '' }) : text;
}

// The message of today and that of 0.1.
const UNKNOWN_OUTCOME = [
  'It was started, and the agent never reported the outcome. It may have run, fully or partly.',
  'It was started, and its outcome was never reported. It may have run, wholly or in part.',
];

/** Why people are asked about a call: text of the server is translated, text of a policy or an agent stays unchanged. */
export function messageOf(t: TFunction, { message, asked_by_rule }: Pick<Interaction, 'message' | 'asked_by_rule'>) {
  if (message && UNKNOWN_OUTCOME.includes(message)) return t('question.outcome.message');
  return asked_by_rule && message ? rulingReason(t, message) : message;
}

// Reasons that the server gives for the end of a question, an action or a step, with their values; where a
// key has two texts, one is that of 0.1.
const END_REASONS: ServerText[] = [
  [/^nobody answered in time$/u, 'unanswered'],
  [/^its outcome was not reported in time$/u, 'unreported'],
  [/^the lease ran out$/u, 'lease'],
  [/^its question was closed$/u, 'closed'],
  [/^the agent (?:reported the outcome|has reported what became of it)$/u, 'reported'],
  [/^it was allowed, and was not started in time$/u, 'unstarted'],
  [/^closed by (?<name>.+) before the deadline$/u, 'early'],
  [/^ended before its time by (?<name>.+)$/u, 'early'],
  [/^a person sent `(?<command>\w+)`$/u, 'command'],
  [/^a person said so: (?<command>\w+)$/u, 'command'],
  [/^(?:each worker that claimed the step|every worker that claimed it) died before it made progress$/u, 'workersDied'],
  [/^its step ended before it (?:started|was begun): (?<why>.+)$/su, 'stepEnded'],
  [/^the step that asked has ended$/u, 'askerEnded'],
  [/^it failed; the report came after the session had ended and was not stored$/u, 'reportedLate'],
  [/^it failed; the report arrived after the end of its session and is not kept$/u, 'reportedLate'],
  [/^a person (?:reported that it failed|says that it did not succeed)$/u, 'reportedFailed'],
  [/^the step ended before (?:this call was handled|anything was done about this)$/u, 'unhandled'],
  [/^people would be asked in more than (?<count>\d+) rounds, the limit `rounds`$/u, 'rounds'],
  [/^people would have been asked in more than (?<count>\d+) rounds \(limit `rounds`\)$/u, 'rounds'],
];

/** A reason: text of the server is translated, text of people and agents stays unchanged. */
export function reasonOf(t: TFunction, reason: string): string {
  const found = matchText(END_REASONS, reason);
  if (!found) return reason;
  const { why, ...values } = found.values as { why?: string; name: string };
  if (why) return t('question.endReasons.stepEnded', { why: reasonOf(t, why) });
  return t(`question.endReasons.${found.key as 'early'}`, values);
}

/** Name of the asker: the owner of the key, and also the agent of the session if that is another one. */
export function askerOf(
  t: TFunction,
  { agent, asked_by, driven }: Pick<Interaction, 'agent' | 'asked_by' | 'driven'>,
): string {
  if (!agent || agent === asked_by.name) return asked_by.name;
  return driven ? agent : t('question.asker', { name: asked_by.name, agent });
}

/** Name of a session: its title, or the flow or agent that runs in it. */
export function sessionName(t: TFunction, session?: Pick<Session, 'title' | 'flow' | 'agent'>): string {
  return session?.title || session?.flow || session?.agent || t('session.untitled');
}

// The prompt of today and that of 0.1.
const PROMPT = ['What should change?', 'What should be different?'];

/** Prompt for the text that this option requires. */
export function promptOf(t: TFunction, option?: Pick<Option, 'input_prompt'>): string | undefined {
  const prompt = option?.input_prompt ?? undefined;
  return prompt && PROMPT.includes(prompt) ? t('moves.prompt') : prompt;
}
