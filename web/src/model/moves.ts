import type { AnswerBody, Effect, Interaction, Option, Remember } from '@/api/types';
import { editOf } from './edit';

/** What must be said before a move can be sent. */
export type Need = 'nothing' | 'reason' | 'input' | 'arguments';

/** One way in which a person can answer: an option of the question, or what its kind always takes. */
export interface Move {
  key: string;
  effect: Effect;
  option?: Option;
  dangerous: boolean;
  needs: Need;
  /** What was picked, where the answer is a choice. */
  picks?: Option[];
}

const CARRIES_FORM: readonly Effect[] = ['approve', 'edit', 'provide', 'custom'];

/** Whether the filled-in form goes with this effect. Skip, reject, retry and terminate carry none. */
export function carriesForm(effect: Effect): boolean {
  return CARRIES_FORM.includes(effect);
}

/** Whether it can be answered with text or data alone. */
export function takesValue(question: Interaction): boolean {
  const always = ['question', 'form', 'secret', 'notice'].includes(question.kind);
  return always || question.options.length === 0;
}

/** What the person fills in besides choosing. */
export function fieldOf(question: Interaction): 'secret' | 'form' | 'choice' | 'text' | 'none' {
  if (question.secrets?.length) return 'secret';
  if (question.schema) return 'form';
  if (question.kind === 'choice') return 'choice';
  return takesValue(question) && question.kind !== 'notice' ? 'text' : 'none';
}

/** Everything that may be answered, the harmless before the dangerous, so that focus never starts on a dangerous one. */
export function moves(question: Interaction): Move[] {
  const found: Move[] = [];
  const offered = (effect: Effect) => question.options.some((option) => option.effect === effect);
  if (question.kind === 'choice') {
    found.push({ key: 'choose', effect: 'custom', dangerous: false, needs: 'nothing' });
  } else {
    if (takesValue(question)) found.push({ key: 'provide', effect: 'provide', dangerous: false, needs: 'nothing' });
    for (const option of question.options) found.push(ofOption(option));
  }
  if (takesValue(question) && question.kind !== 'notice' && !offered('reject')) {
    found.push({ key: 'reject', effect: 'reject', dangerous: false, needs: 'reason' });
  }
  if (!question.required && !offered('skip')) {
    found.push({ key: 'skip', effect: 'skip', dangerous: false, needs: 'nothing' });
  }
  return [...found.filter((move) => !move.dangerous), ...found.filter((move) => move.dangerous)];
}

function ofOption(option: Option): Move {
  return {
    key: `option ${option.id}`,
    effect: option.effect,
    option,
    dangerous: option.dangerous,
    needs: need(option),
  };
}

function need(option: Option): Need {
  if (option.effect === 'edit') return 'arguments';
  if (option.requires_input) return 'input';
  return option.effect === 'reject' || option.effect === 'retry' || option.effect === 'terminate'
    ? 'reason'
    : 'nothing';
}

/** A choice with what was picked: what any of that needs, and whether any of it is dangerous. Every other move as it is. */
export function settled(question: Interaction, move: Move, picked: readonly string[]): Move {
  if (move.key !== 'choose') return move;
  const picks = question.options.filter((option) => picked.includes(option.id));
  const dangerous = picks.some((option) => option.dangerous);
  return { ...move, picks, dangerous, needs: picks.some((option) => option.requires_input) ? 'input' : 'nothing' };
}

/** What the person has filled in so far. */
export interface Inputs {
  data?: unknown;
  /** What was written as JSON in the form and cannot be read yet, by the path of its field. */
  unread?: Record<string, string>;
  text: string;
  picked: string[];
  feedback: string;
  /** Other arguments as JSON text, once somebody has touched them. */
  edited?: string;
  remember?: Remember;
  keep: boolean;
}

export const NO_INPUTS: Inputs = { text: '', picked: [], feedback: '', keep: false };

/** The answer as it goes over the wire: only what belongs to the move. */
export function answerOf(question: Interaction, move: Move, inputs: Inputs): AnswerBody {
  if (move.key === 'choose') return { options: inputs.picked, ...said(move, inputs) };
  const body: AnswerBody = move.option ? { option: move.option.id } : unnamed(move);
  if (move.effect === 'edit')
    body.arguments = (editOf(question, inputs.edited).values ?? {}) as AnswerBody['arguments'];
  const field = fieldOf(question);
  if (carriesForm(move.effect)) {
    if (field === 'form') body.data = inputs.data ?? null;
    if (field === 'secret') {
      body.data = inputs.data ?? {};
      if (inputs.keep) body.keep = true;
    }
    if (field === 'text' && move.key === 'provide') body.data = inputs.text;
    if (inputs.remember && (move.effect === 'approve' || move.effect === 'edit')) body.remember = inputs.remember;
  }
  return { ...body, ...said(move, inputs) };
}

// Who only writes has chosen none of the options: an effect would stand for the one option that has it.
function unnamed({ key, effect }: Move): AnswerBody {
  return key === 'provide' ? {} : { effect };
}

// A reason that was begun for another answer stands in no field of this one, and does not go with it.
function said({ needs }: Move, { feedback }: Inputs): { feedback?: string } {
  return needs === 'nothing' || feedback.trim() === '' ? {} : { feedback };
}

/** What of it may be kept while it is half written: nothing that is secret, and nothing that no field would show again. */
export function keepable(question: Interaction): boolean {
  return !question.secrets?.length && !/"(?:password|writeOnly)"/u.test(JSON.stringify(question.schema ?? {}));
}

/** The move that one letter stands for: approve, edit, reject. */
export function moveFor(list: readonly Move[], wanted: 'approve' | 'edit' | 'reject'): Move | undefined {
  const exact = list.find((move) => move.effect === wanted);
  if (exact || wanted !== 'approve') return exact;
  return list.find((move) => move.key === 'provide' || move.key === 'choose');
}

/** Whether a move can be made for many questions at once: it needs nothing that differs between them. */
export function batchMove(question: Interaction, effect: 'approve' | 'reject'): Move | undefined {
  const fits = moves(question).filter((move) => move.effect === effect && !move.dangerous);
  const [move] = fits;
  if (!move || fits.length > 1 || move.needs === 'input') return undefined;
  const formless = ['none', 'text'].includes(fieldOf(question)) || !carriesForm(effect);
  return formless ? move : undefined;
}
