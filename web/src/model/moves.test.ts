import { describe, expect, test } from 'vitest';
import type { Interaction, MoveInput, OfferedMove, Option } from '@/api/types';
import { answerOf, batchMove, fieldOf, keepable, moveFor, moves, NO_INPUTS, opensPanel, settled } from './moves';

const option = (id: string, effect: Option['effect'], more: Partial<Option> = {}): Option => ({
  id,
  label: id,
  effect,
  default: false,
  dangerous: false,
  recommended: false,
  requires_input: false,
  ...more,
});

/** Inputs as the server sends them; a question mark ends the name of an optional one. */
const inputs = (...names: string[]) =>
  names.map((name) => ({ input: name.replace('?', ''), required: !name.endsWith('?') })) as MoveInput[];

/** A move that names no option. */
const unnamed = (effect: OfferedMove['effect'], ...names: string[]): OfferedMove => ({
  effect,
  dangerous: false,
  takes: inputs(...names),
  does: 'resume',
});

/** The move of an option. */
const named = ({ id, label, effect, dangerous }: Option, ...names: string[]): OfferedMove => ({
  ...unnamed(effect, ...names),
  option: id,
  label,
  dangerous,
  does: effect === 'approve' || effect === 'edit' ? 'run_action' : 'resume',
});

const question = (kind: string, moves: OfferedMove[], more: Partial<Interaction> = {}): Interaction =>
  ({ id: 'int_1', kind, options: [], required: true, multiple: false, moves, ...more }) as Interaction;

const APPROVAL = [
  option('terminate', 'terminate'),
  option('approve', 'approve', { dangerous: true }),
  option('edit', 'edit'),
  option('retry', 'retry', { requires_input: true }),
  option('reject', 'reject'),
];
const [terminate, approve, edit, retry, reject] = APPROVAL as [Option, Option, Option, Option, Option];
const approval = question(
  'approval',
  [
    named(terminate, 'feedback?'),
    named(approve),
    named(edit, 'arguments', 'feedback?'),
    named(retry, 'feedback'),
    named(reject, 'feedback?'),
  ],
  { options: APPROVAL },
);
const REJECT = unnamed('reject', 'feedback?');
const text = question('question', [unnamed('provide', 'text'), REJECT]);
const form = question('form', [unnamed('provide', 'form'), REJECT, unnamed('skip')]);
const secret = question('secret', [unnamed('provide', 'secrets'), REJECT], {
  secrets: [{ name: 'KEY', required: true }],
});
const notice = question('notice', [unnamed('provide')]);
const go = option('go', 'custom');
const [a, b] = [option('a', 'custom'), option('b', 'custom')];
const choice = question('choice', [named(a), named(b), unnamed('skip')], { options: [a, b], multiple: true });

const keys = (one: Interaction) => moves(one).map((move) => move.key);

describe('the moves that are drawn', () => {
  test('a dangerous move comes last', () => {
    const list = moves(approval);
    expect(list.map((move) => move.effect)).toEqual(['terminate', 'edit', 'retry', 'reject', 'approve']);
    expect(list.map((move) => move.option?.id)).toEqual(['terminate', 'edit', 'retry', 'reject', 'approve']);
  });

  test.each([
    ['question without options', text, ['provide', 'reject']],
    ['form that may be skipped', form, ['provide', 'reject', 'skip']],
    ['a notice is only acknowledged', notice, ['provide']],
    ['options', question('custom', [named(go)], { options: [go] }), ['option go']],
    ['a choice is one button', choice, ['choose', 'skip']],
    [
      'a choice with a form has a button for each option',
      question('choice', [named(a, 'form'), named(b, 'form')], { options: [a, b] }),
      ['option a', 'option b'],
    ],
    ['a closed question', question('choice', [], { options: [a, b] }), []],
  ])('%s', (_, one, expected) => {
    expect(keys(one)).toEqual(expected);
  });

  test('moves with a reason, with edited arguments or with danger open a panel', () => {
    expect(moves(approval).map(opensPanel)).toEqual([true, true, true, true, true]);
    expect(moves(form).map(opensPanel)).toEqual([false, true, false]);
  });
});

test.each([
  ['secret', secret, 'secret'],
  ['form', form, 'form'],
  ['choice', choice, 'choice'],
  ['question', text, 'text'],
  ['notice', notice, 'none'],
  ['approval', approval, 'none'],
])('%s is filled in as %s', (_, one, expected) => {
  expect(fieldOf(one)).toBe(expected);
});

describe('the body of an answer', () => {
  const made = (one: Interaction, key: string, filled = {}) => {
    const move = moves(one).find((found) => found.key === key);
    if (!move) throw new Error(key);
    return answerOf(one, move, { ...NO_INPUTS, ...filled });
  };

  test.each([
    ['an option', approval, 'option approve', {}, { option: 'approve' }],
    ['a reason', approval, 'option reject', { feedback: 'no' }, { option: 'reject', feedback: 'no' }],
    ['a blank reason is none', approval, 'option reject', { feedback: '  ' }, { option: 'reject' }],
    ['an edit', approval, 'option edit', { edited: '{"a": 1}' }, { option: 'edit', arguments: { a: 1 } }],
    [
      'no reason that was begun for another answer',
      approval,
      'option approve',
      { feedback: 'no' },
      { option: 'approve' },
    ],
    ['a form', form, 'provide', { data: { a: 1 } }, { data: { a: 1 } }],
    ['skip carries no form', form, 'skip', { data: { a: 1 } }, { effect: 'skip' }],
    ['reject carries no form', form, 'reject', { data: { a: 1 }, feedback: 'x' }, { effect: 'reject', feedback: 'x' }],
    ['secrets', secret, 'provide', { data: { KEY: 'k' }, keep: true }, { data: { KEY: 'k' }, keep: true }],
    ['text', text, 'provide', { text: 'yes' }, { data: 'yes' }],
    ['a notice', notice, 'provide', {}, {}],
    [
      'text beside an option is not that option',
      question('question', [unnamed('provide', 'text'), named(option('wipe', 'provide'))], {
        options: [option('wipe', 'provide')],
      }),
      'provide',
      { text: 'leave it' },
      { data: 'leave it' },
    ],
    ['many options', choice, 'choose', { picked: ['a', 'b'] }, { options: ['a', 'b'] }],
  ])('%s', (_, one, key, filled, expected) => {
    expect(made(one, key, filled)).toEqual(expected);
  });

  test('remember is sent only with an approval', () => {
    const remember = { scope: 'session', arguments: 'exact' } as const;
    expect(made(approval, 'option approve', { remember })).toEqual({ option: 'approve', remember });
    expect(made(approval, 'option reject', { remember })).toEqual({ option: 'reject' });
  });
});

test('keyboard shortcuts find their moves', () => {
  const list = moves(approval);
  expect([moveFor(list, 'approve')?.key, moveFor(list, 'edit')?.key, moveFor(list, 'reject')?.key]).toEqual([
    'option approve',
    'option edit',
    'option reject',
  ]);
  expect(moveFor(moves(text), 'approve')?.key).toBe('provide');
  expect(moveFor(moves(notice), 'edit')).toBeUndefined();
});

describe('the move for a batch', () => {
  const [yes, no, also] = [option('yes', 'approve'), option('no', 'reject'), option('also', 'approve')];
  const plain = [named(yes), named(no, 'feedback?')];
  const options = [yes, no, also];
  test.each([
    ['a plain approval', question('approval', plain, { options }), 'option yes'],
    ['a dangerous one is looked at alone', approval, undefined],
    ['two ways to approve', question('approval', [...plain, named(also)], { options }), undefined],
    ['one with a form', question('approval', [named(yes, 'form')], { options }), undefined],
    ['one that needs a text', question('approval', [named(yes, 'feedback')], { options }), undefined],
  ])('%s', (_, one, expected) => {
    expect(batchMove(one, 'approve')?.key).toBe(expected);
  });
});

describe('the move of the picked options', () => {
  const risky = option('risky', 'custom', { dangerous: true });
  const other = option('other', 'custom', { requires_input: true, input_prompt: 'Which other?' });
  const no = option('no', 'reject');
  const one = question('choice', [named(a), named(risky), named(other, 'feedback'), named(no, 'feedback?')], {
    options: [a, risky, other, no],
    multiple: true,
  });
  const [choose] = moves(one);
  if (!choose) throw new Error('nothing to choose');
  test.each([
    ['plain', ['a'], false, []],
    ['one dangerous among others', ['a', 'risky'], true, []],
    ['one that needs words', ['other'], false, inputs('feedback')],
    ['one that takes words and does not need them', ['no'], false, []],
  ])('%s', (_, picked, dangerous, takes) => {
    expect(settled(one, choose, picked)).toMatchObject({ dangerous, takes });
  });
  test('feedback is sent with the picked options', () => {
    const filled = { ...NO_INPUTS, picked: ['other'], feedback: 'the third' };
    expect(answerOf(one, settled(one, choose, filled.picked), filled)).toEqual({
      options: ['other'],
      feedback: 'the third',
    });
  });
});

test.each([
  ['a form', question('form', [], { schema: { properties: { city: { type: 'string' } } } as never }), true],
  ['a secret', secret, false],
  ['a password', question('form', [], { schema: { properties: { p: { format: 'password' } } } as never }), false],
  [
    'what is only written',
    question('form', [], { schema: { properties: { p: { writeOnly: true } } } as never }),
    false,
  ],
])('a draft of %s may be stored: %s', (_, one, expected) => {
  expect(keepable(one)).toBe(expected);
});
