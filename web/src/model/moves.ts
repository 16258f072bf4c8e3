import type { AnswerBody, InputKind, Interaction, MoveInput, OfferedMove, Option, Remember } from '@/api/types';
import { editOf } from './edit';

/** A move that the server offers with the question, as the page draws it. */
export interface Move extends Pick<OfferedMove, 'effect' | 'dangerous' | 'takes' | 'does'> {
  key: string;
  option?: Option;
  /** The options that were picked, where the answer is a choice. */
  picks?: Option[];
}

/** A choice is one button: its options are picked in a field above it. */
const CHOOSE: Move = { key: 'choose', effect: 'custom', dangerous: false, takes: [], does: 'resume' };

/** Whether a move requires an input, takes it, or has no field for it. */
export function takes(move: { takes: MoveInput[] }, input: InputKind): 'required' | 'optional' | undefined {
  const found = move.takes.find((one) => one.input === input);
  return found && (found.required ? 'required' : 'optional');
}

/** Whether the filled-in form, or the secrets, go with this move. */
export function carriesForm(move: Move): boolean {
  return Boolean(takes(move, 'form') ?? takes(move, 'secrets'));
}

/** Whether a move needs more than a click: a reason, other arguments, or a second look. */
export function opensPanel(move: Move): boolean {
  return move.dangerous || Boolean(takes(move, 'feedback') ?? takes(move, 'arguments'));
}

/** The input that is drawn above the buttons. */
export function fieldOf(question: Pick<Interaction, 'kind' | 'moves'>): 'secret' | 'form' | 'choice' | 'text' | 'none' {
  const isTaken = (input: InputKind) => question.moves.some((move) => takes(move, input));
  if (isTaken('secrets')) return 'secret';
  if (isTaken('form')) return 'form';
  if (question.kind === 'choice') return 'choice';
  return isTaken('text') ? 'text' : 'none';
}

/** The moves of a question, the harmless before the dangerous, so that focus never starts on a dangerous one. */
export function moves(question: Interaction): Move[] {
  const isChoice = fieldOf(question) === 'choice' && question.moves.length > 0;
  // A notice is only acknowledged: the page has no button that rejects it.
  const isDrawn = ({ option, effect }: OfferedMove) =>
    option ? !isChoice : !(question.kind === 'notice' && effect === 'reject');
  const found = question.moves.filter(isDrawn).map((move) => drawn(question, move));
  const list = isChoice ? [CHOOSE, ...found] : found;
  return [...list.filter((move) => !move.dangerous), ...list.filter((move) => move.dangerous)];
}

function drawn({ options }: Interaction, { option: id, effect, dangerous, takes, does }: OfferedMove): Move {
  const option = options.find((one) => one.id === id);
  return { key: option ? `option ${option.id}` : effect, option, effect, dangerous, takes, does };
}

/** A choice with the options that were picked: whether one of them requires a text, and whether one is dangerous. Every other move as it is. */
export function settled(question: Interaction, move: Move, picked: readonly string[]): Move {
  if (move.key !== 'choose') return move;
  const picks = question.options.filter((option) => picked.includes(option.id));
  const made = question.moves.filter(({ option }) => option && picked.includes(option));
  const asksForText = made.some((one) => takes(one, 'feedback') === 'required');
  return {
    ...move,
    picks,
    dangerous: made.some((one) => one.dangerous),
    takes: asksForText ? [{ input: 'feedback', required: true }] : [],
  };
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

/** The answer as it goes over the wire: only the inputs that the move takes. */
export function answerOf(question: Interaction, move: Move, inputs: Inputs): AnswerBody {
  if (move.key === 'choose') return { options: inputs.picked, ...said(move, inputs) };
  const body: AnswerBody = move.option ? { option: move.option.id } : unnamed(move);
  if (takes(move, 'arguments'))
    body.arguments = (editOf(question, inputs.edited).values ?? {}) as AnswerBody['arguments'];
  if (takes(move, 'form')) body.data = inputs.data ?? null;
  if (takes(move, 'secrets')) {
    body.data = inputs.data ?? {};
    if (inputs.keep) body.keep = true;
  }
  if (takes(move, 'text')) body.data = inputs.text;
  if (inputs.remember && move.does === 'run_action') body.remember = inputs.remember;
  return { ...body, ...said(move, inputs) };
}

// A text or a form names no option: `effect: provide` would stand for the one option that has this effect.
function unnamed({ effect }: Move): AnswerBody {
  return effect === 'provide' ? {} : { effect };
}

// A reason that was begun for another answer stands in no field of this one, and does not go with it.
function said(move: Move, { feedback }: Inputs): { feedback?: string } {
  return !takes(move, 'feedback') || feedback.trim() === '' ? {} : { feedback };
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

/** The move that answers many questions at once: one that needs no input that differs between them. */
export function batchMove(question: Interaction, effect: 'approve' | 'reject'): Move | undefined {
  const fits = moves(question).filter((move) => move.effect === effect && !move.dangerous);
  const [move] = fits;
  if (!move || fits.length > 1 || takes(move, 'feedback') === 'required') return undefined;
  return carriesForm(move) ? undefined : move;
}
