import { describe, expect, test } from 'vitest';
import type { Interaction, Option } from '@/api/types';
import { answerOf, batchMove, fieldOf, keepable, moveFor, moves, NO_INPUTS, settled } from './moves';

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

const question = (kind: string, more: Partial<Interaction> = {}): Interaction =>
  ({ id: 'int_1', kind, options: [], required: true, multiple: false, ...more }) as Interaction;

const APPROVAL = [
  option('terminate', 'terminate'),
  option('approve', 'approve', { dangerous: true }),
  option('edit', 'edit'),
  option('retry', 'retry', { requires_input: true }),
  option('reject', 'reject'),
];

const keys = (one: Interaction) => moves(one).map((move) => move.key);

describe('what may be answered', () => {
  test('the dangerous comes last, whatever the agent says', () => {
    const list = moves(question('approval', { options: APPROVAL }));
    expect(list.map((move) => move.effect)).toEqual(['terminate', 'edit', 'retry', 'reject', 'approve']);
    expect(list.map((move) => move.needs)).toEqual(['reason', 'arguments', 'input', 'reason', 'nothing']);
  });

  test.each([
    ['question without options', question('question'), ['provide', 'reject']],
    ['form', question('form', { schema: {} as never }), ['provide', 'reject']],
    ['notice', question('notice'), ['provide']],
    ['custom without options and schema', question('custom'), ['provide', 'reject']],
    ['custom with options', question('custom', { options: [option('go', 'custom')] }), ['option go']],
    ['choice', question('choice', { options: [option('a', 'custom')] }), ['choose']],
    ['one that may be skipped', question('question', { required: false }), ['provide', 'reject', 'skip']],
  ])('%s', (_, one, expected) => {
    expect(keys(one)).toEqual(expected);
  });
});

test.each([
  ['secret', question('secret', { secrets: [{ name: 'KEY', required: true }] }), 'secret'],
  ['form', question('form', { schema: {} as never }), 'form'],
  ['choice', question('choice', { options: [option('a', 'custom')] }), 'choice'],
  ['question', question('question'), 'text'],
  ['notice', question('notice'), 'none'],
  ['approval', question('approval', { options: APPROVAL }), 'none'],
])('%s is filled in as %s', (_, one, expected) => {
  expect(fieldOf(one)).toBe(expected);
});

describe('what goes over the wire', () => {
  const made = (one: Interaction, key: string, inputs = {}) => {
    const move = moves(one).find((found) => found.key === key);
    if (!move) throw new Error(key);
    return answerOf(one, move, { ...NO_INPUTS, ...inputs });
  };
  const approval = question('approval', { options: APPROVAL });
  const form = question('form', { schema: {} as never, required: false });

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
    ['text', question('question'), 'provide', { text: 'yes' }, { data: 'yes' }],
    ['a notice', question('notice'), 'provide', {}, {}],
    [
      'text beside an option is not that option',
      question('question', { options: [option('wipe', 'provide')] }),
      'provide',
      { text: 'leave it' },
      { data: 'leave it' },
    ],
    [
      'many options',
      question('choice', { options: [option('a', 'custom'), option('b', 'custom')], multiple: true }),
      'choose',
      { picked: ['a', 'b'] },
      { options: ['a', 'b'] },
    ],
  ])('%s', (_, one, key, inputs, expected) => {
    expect(made(one, key, inputs)).toEqual(expected);
  });

  test('what is to be remembered goes with an approval and with nothing else', () => {
    const remember = { scope: 'session', arguments: 'exact' } as const;
    expect(made(approval, 'option approve', { remember })).toEqual({ option: 'approve', remember });
    expect(made(approval, 'option reject', { remember })).toEqual({ option: 'reject' });
  });
});

test('letters find their answers', () => {
  const list = moves(question('approval', { options: APPROVAL }));
  expect([moveFor(list, 'approve')?.key, moveFor(list, 'edit')?.key, moveFor(list, 'reject')?.key]).toEqual([
    'option approve',
    'option edit',
    'option reject',
  ]);
  expect(moveFor(moves(question('question')), 'approve')?.key).toBe('provide');
  expect(moveFor(moves(question('notice')), 'edit')).toBeUndefined();
});

describe('many at once', () => {
  const plain = [option('yes', 'approve'), option('no', 'reject')];
  test.each([
    ['a plain approval', question('approval', { options: plain }), 'option yes'],
    ['a dangerous one is looked at alone', question('approval', { options: APPROVAL }), undefined],
    ['two ways to approve', question('approval', { options: [...plain, option('also', 'approve')] }), undefined],
    ['one with a form', question('approval', { options: plain, schema: {} as never }), undefined],
    [
      'one that needs a text',
      question('approval', { options: [option('yes', 'approve', { requires_input: true })] }),
      undefined,
    ],
  ])('%s', (_, one, expected) => {
    expect(batchMove(one, 'approve')?.key).toBe(expected);
  });
});

describe('a choice is what was picked', () => {
  const options = [
    option('a', 'custom'),
    option('risky', 'custom', { dangerous: true }),
    option('other', 'custom', { requires_input: true, input_prompt: 'Which other?' }),
  ];
  const one = question('choice', { options, multiple: true });
  const [choose] = moves(one);
  if (!choose) throw new Error('nothing to choose');
  test.each([
    ['plain', ['a'], false, 'nothing'],
    ['one dangerous among others', ['a', 'risky'], true, 'nothing'],
    ['one that needs words', ['other'], false, 'input'],
  ])('%s', (_, picked, dangerous, needs) => {
    expect(settled(one, choose, picked)).toMatchObject({ dangerous, needs });
  });
  test('its words go with it', () => {
    const inputs = { ...NO_INPUTS, picked: ['other'], feedback: 'the third' };
    expect(answerOf(one, settled(one, choose, inputs.picked), inputs)).toEqual({
      options: ['other'],
      feedback: 'the third',
    });
  });
});

test.each([
  ['a form', question('form', { schema: { properties: { city: { type: 'string' } } } as never }), true],
  ['a secret', question('secret', { secrets: [{ name: 'KEY', required: true }] }), false],
  ['a password', question('form', { schema: { properties: { p: { format: 'password' } } } as never }), false],
  ['what is only written', question('form', { schema: { properties: { p: { writeOnly: true } } } as never }), false],
])('%s may be kept while it is half written: %s', (_, one, expected) => {
  expect(keepable(one)).toBe(expected);
});
