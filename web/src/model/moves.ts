import type { AnswerBody, InputKind, Interaction, MoveInput, OfferedMove, Option, Remember } from '@/api/types';
import { editOf } from './edit';

/** A move that the server offers with the question, as the page draws it. */
export interface Move extends Pick<OfferedMove, 'effect' | 'dangerous' | 'takes' | 'does'> {
  key: string;
  option?: Option;
  /** The picked options of a choice. */
  picks?: Option[];
  /** Picked options that require a text. */
  prompted?: Option[];
}

/** The button of a choice. Its options are picked in a field above it. */
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

/** Whether a move needs more than a click: a reason, other arguments, or a confirmation. */
export function opensPanel(move: Move): boolean {
  return move.dangerous || Boolean(takes(move, 'feedback') ?? takes(move, 'arguments'));
}

/** The input that is drawn above the buttons. A question of kind `choice` is drawn as a list unless it has a form. */
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
  const found = question.moves.filter(({ option }) => !(option && isChoice)).map((move) => drawn(question, move));
  const list = isChoice ? [CHOOSE, ...found] : found;
  return [...list.filter((move) => !move.dangerous), ...list.filter((move) => move.dangerous)];
}

function drawn({ options }: Interaction, { option: id, effect, dangerous, takes, does }: OfferedMove): Move {
  const option = options.find((one) => one.id === id);
  return { key: option ? `option ${option.id}` : effect, option, effect, dangerous, takes, does };
}

/**
 * A choice with its picked options, which decide whether a text is required and whether the move is dangerous. Any
 * other move is returned unchanged.
 */
export function settled(question: Interaction, move: Move, picked: readonly string[]): Move {
  if (move.key !== 'choose') return move;
  const picks = question.options.filter((option) => picked.includes(option.id));
  const made = question.moves.filter(({ option }) => option && picked.includes(option));
  const prompted = picks.filter(({ id }) =>
    made.some((one) => one.option === id && takes(one, 'feedback') === 'required'),
  );
  return {
    ...move,
    picks,
    prompted,
    dangerous: made.some((one) => one.dangerous),
    takes: prompted.length > 0 ? [{ input: 'feedback', required: true }] : [],
  };
}

/** Whether the agent does not continue as it wanted to: its action is refused, or its session ends. */
export function refuses({ does }: Move): boolean {
  return does === 'refuse' || does === 'end_session';
}

/** Values that the person has entered so far. */
export interface Inputs {
  data?: unknown;
  /** Unfinished JSON of the form, by the path of its field. */
  unread?: Record<string, string>;
  text: string;
  picked: string[];
  feedback: string;
  /** Edited arguments as JSON text. */
  edited?: string;
  remember?: Remember;
  keep: boolean;
}

export const NO_INPUTS: Inputs = { text: '', picked: [], feedback: '', keep: false };

/** Request body of an answer, with only the inputs that the move takes. */
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

// A text or a form names no option, because `effect: provide` would choose the one option with that effect.
function unnamed({ effect }: Move): AnswerBody {
  return effect === 'provide' ? {} : { effect };
}

// Feedback that was typed for another move is not sent with a move that takes none.
function said(move: Move, { feedback }: Inputs): { feedback?: string } {
  return !takes(move, 'feedback') || feedback.trim() === '' ? {} : { feedback };
}

/**
 * Whether a draft of the answer may be stored: only if it contains no secret, and a restored value would be visible in
 * a field.
 */
export function keepable(question: Interaction): boolean {
  return !question.secrets?.length && !/"(?:password|writeOnly)"/u.test(JSON.stringify(question.schema ?? {}));
}

/** The move of a keyboard shortcut: approve, edit or reject. */
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
