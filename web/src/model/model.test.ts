import { describe, expect, test } from 'vitest';
import type { Definition, Resolution, SessionEvent, Stats } from '@/api/types';
import { inputOf, newest } from './definitions';
import { draftName } from './drafts';
import { droppedOf, droppedReason } from './dropped';
import { readArguments, withSeen } from './edit';
import { askerOf, messageOf, moveLabel, reasonOf } from './labels';
import { FIRST_WISH, patternable, rememberOf } from './remember';
import { endsOf, expiredShare, partsOf, rejectedShare, series, shareTone } from './series';
import { approvedCall, callLine, contextBeside, subjectOf } from './subject';
import { lastTurns, timeline, titlesOf } from './timeline';

describe('the subject of a call', () => {
  test.each([
    ['a command', { command: 'ls' }, undefined, { is: 'command', drawn: ['command'], text: 'ls' }],
    [
      'the words of one',
      { command: ['git', 'commit', '-m', 'a b'] },
      undefined,
      { is: 'command', drawn: ['command'], text: "git commit -m 'a b'" },
    ],
    [
      'a file',
      { path: 'a', content: 'x' },
      undefined,
      { is: 'file', drawn: ['path', 'content'], path: 'a', before: undefined, word: 'agent', after: 'x' },
    ],
    [
      'a change of one',
      { path: 'a', content: 'x' },
      { before: 'y' },
      { is: 'file', drawn: ['path', 'content'], path: 'a', before: 'y', word: 'agent', after: 'x' },
    ],
    [
      'a replacement',
      { file_path: 'a', old_string: 'x', new_string: 'y' },
      undefined,
      {
        is: 'file',
        drawn: ['file_path', 'old_string', 'new_string'],
        path: 'a',
        before: 'x',
        word: 'call',
        after: 'y',
      },
    ],
    [
      'a file by two names: what is not drawn is left for the table',
      { path: 'a', file_path: '/etc/sudoers', content: 'x', body: 'y' },
      undefined,
      { is: 'file', drawn: ['path', 'content'], path: 'a', before: undefined, word: 'agent', after: 'x' },
    ],
    ['SQL', { sql: 'select 1' }, undefined, { is: 'sql', drawn: ['sql'], text: 'select 1' }],
    ['anything else', { amount: 3 }, undefined, { is: 'other', drawn: [] }],
    ['nothing that is inherited', {}, undefined, { is: 'other', drawn: [] }],
  ])('%s', (_, values, context, expected) => {
    expect(subjectOf({ tool: 't', arguments: values }, context)).toEqual(expected);
  });

  test('earlier content that a worker read is attributed to the server', () => {
    const call = { tool: 't', arguments: { path: 'a', content: 'x' } };
    expect(subjectOf(call, { before: 'y' }, true)).toMatchObject({ before: 'y', word: 'server' });
  });

  test('in one line', () => {
    const line = (tool: string, values: object) => Object.values(callLine({ tool, arguments: values as never }) ?? {});
    expect([
      line('run', { command: 'ls' }),
      line('write', { path: 'a', content: '' }),
      line('pay', { to: 'x', amount: 3 }),
      line('execute_command', { command: 'rm -rf /srv/prod', path: 'README.md', content: 'hello' }),
      line('query', { path: 'a', content: 'b', sql: 'drop table orders' }),
      line('fetch', { a: 1, path: 'p', content: 'c', url: 'https://x.example/' }),
      line('edit', { command: 'str_replace', path: 'a', old_str: 'x', new_str: 'y' }),
      line('set', { on: false, deep: { a: 1 } }),
    ]).toEqual([
      ['ls', 0],
      ['write a', 0],
      ['pay x 3', 0],
      ['rm -rf /srv/prod', 2],
      ['drop table orders', 2],
      ['fetch https://x.example/ 1 p', 1],
      ['edit a', 1],
      ['set false', 1],
    ]);
    expect(callLine(undefined)).toBeUndefined();
  });

  test('content that the diff shows is not repeated in the context', () => {
    const action = { tool: 'write_file', arguments: { path: 'a', content: 'x' } as never, digest: '' };
    expect(contextBeside({ action, context: { before: 'y' } })).toBeUndefined();
    expect(contextBeside({ action, context: { before: 'y', why: 'z' } })).toEqual({ why: 'z' });
    expect(contextBeside({ action: undefined, context: { before: 'y' } })).toEqual({ before: 'y' });
  });
});

describe('remember', () => {
  const values = { path: '/srv/a', count: 3, long: 'x'.repeat(600) };
  test('starts with the narrowest choice', () => {
    expect(rememberOf(FIRST_WISH, values)).toEqual({ scope: 'session', arguments: 'exact', seconds: 3600, uses: null });
  });
  test('offers patterns only for short texts', () => {
    expect(patternable(values)).toEqual({ path: '/srv/a' });
  });
  test('sends only patterns that differ from the value', () => {
    const wish = { ...FIRST_WISH, cover: 'pattern' as const };
    expect(rememberOf({ ...wish, patterns: { path: '/srv/*' } }, values).arguments).toEqual({ path: '/srv/*' });
    expect(rememberOf({ ...wish, patterns: { path: '/srv/a' } }, values).arguments).toBe('exact');
  });
});

test('arguments are an object or nothing', () => {
  expect([readArguments('{"a":1}'), readArguments('[1]'), readArguments('null'), readArguments('{')]).toEqual([
    { a: 1 },
    undefined,
    undefined,
    undefined,
  ]);
});

describe('stats', () => {
  const stats = (seconds: number, answered: number, expired: number) =>
    ({ window_seconds: seconds, closed: { answered, expired } }) as unknown as Stats;
  test('intervals are in order, the oldest first', () => {
    const times = [
      { from: '1970-01-01T00:14:40Z', closed: { answered: 3, expired: 1 } },
      { from: '1970-01-01T00:15:40Z', closed: { answered: 2, expired: 0 } },
    ];
    expect(series({ times, window_seconds: 120 })).toEqual([
      { from: 880_000, to: 940_000, counts: { answered: 3, auto_resolved: 0, expired: 1, cancelled: 0 } },
      { from: 940_000, to: 1_000_000, counts: { answered: 2, auto_resolved: 0, expired: 0, cancelled: 0 } },
    ]);
  });
  test.each([
    [{}, undefined],
    [{ approve: 3 }, 0],
    [{ approve: 2, reject: 1, retry: 1 }, 0.5],
  ])('the rejected share of %j is %j', (effects, share) => expect(rejectedShare({ effects })).toBe(share));
  test.each([
    [0, 0, undefined, 'plain'],
    [19, 1, 0.05, 'good'],
    [18, 2, 0.1, 'warn'],
    [7, 3, 0.3, 'danger'],
  ])('%d answered and %d expired', (answered, expired, share, tone) => {
    expect(expiredShare(stats(60, answered, expired))).toBe(share);
    expect(shareTone(share)).toBe(tone);
  });
});

test('only the words of the server are translated, never those of an agent', () => {
  const t = ((key: string) => `[${key}]`) as never;
  expect(moveLabel(t, { id: 'approve', label: 'Approve' })).toBe('[moves.approve]');
  expect(moveLabel(t, { id: 'approve', label: 'Approve everything' })).toBe('Approve everything');
});

test('the timeline shows only the last event of an action', () => {
  const event = (seq: number, type: string, data: object) =>
    ({ id: `e${seq}`, seq, type, data }) as unknown as SessionEvent;
  const made = timeline([
    event(1, 'session.started', {}),
    event(2, 'action.waiting', { call_id: 'c1' }),
    event(3, 'action.done', { call_id: 'c1' }),
  ]);
  expect(made.map(({ type }) => type)).toEqual(['session.started', 'action.done']);
});

describe('the events before a question', () => {
  const event = (seq: number, type: string, data: object = {}) =>
    ({ id: `e${seq}`, seq, type, data }) as unknown as SessionEvent;
  const events = [
    event(1, 'session.started'),
    event(2, 'message.sent', { content: 'Tidy up' }),
    event(3, 'model.turn', { text: 'I shall look first.' }),
    event(4, 'action.allowed', { call_id: 'read' }),
    event(5, 'action.started', { call_id: 'read' }),
    event(6, 'action.done', { call_id: 'read' }),
    event(7, 'model.turn', { text: ' ' }),
    event(8, 'action.allowed', { call_id: 'list' }),
  ];
  const seqs = (most?: number) => lastTurns(events, most).map(({ seq }) => seq);
  test('contain messages and runs without repetition', () => {
    expect(seqs(10)).toEqual([1, 2, 3, 6, 8]);
  });
  test('are limited to the last ones', () => {
    expect(seqs(2)).toEqual([6, 8]);
  });
});

test('partial text of a model is replaced by its whole turn', () => {
  const event = (seq: number, type: string, turn: number) =>
    ({ id: `e${seq}`, seq, type, step: 's', data: { turn } }) as unknown as SessionEvent;
  const made = timeline([event(1, 'model.said', 1), event(2, 'model.turn', 1), event(3, 'model.said', 2)]);
  expect(made.map(({ seq }) => seq)).toEqual([2, 3]);
});

test('partial text of a turn that was started again is not shown', () => {
  const event = (seq: number, type: string, turn: number) =>
    ({ id: `e${seq}`, seq, type, step: 's', data: { turn } }) as unknown as SessionEvent;
  const told = [
    event(1, 'model.said', 1),
    event(2, 'model.said', 2),
    event(3, 'model.again', 2),
    event(4, 'model.said', 2),
  ];
  expect(timeline(told).map(({ seq }) => seq)).toEqual([1, 3, 4]);
});

test('parts of a model text are joined until it reasons or another turn starts', () => {
  const event = (seq: number, type: string, turn: number, text: string) =>
    ({ id: `e${seq}`, seq, type, step: 's', data: { turn, text } }) as unknown as SessionEvent;
  const made = timeline([
    event(1, 'model.thought', 1, 'hm'),
    event(2, 'model.said', 1, 'The quick brow'),
    event(3, 'model.said', 1, 'n fox'),
    event(4, 'model.thought', 1, '…'),
    event(5, 'model.said', 1, ' jumps'),
    event(6, 'model.said', 2, 'Again'),
  ]);
  expect(made.map(({ id, data }) => [id, (data as { text: string }).text])).toEqual([
    ['e1', 'hm'],
    ['e2', 'The quick brown fox'],
    ['e4', '…'],
    ['e5', ' jumps'],
    ['e6', 'Again'],
  ]);
});

test('an answer in the timeline has the title of its question', () => {
  const event = (type: string, interaction: string, data: object) =>
    ({ type, interaction, data }) as unknown as SessionEvent;
  const titles = titlesOf([
    event('interaction.asked', 'a', { title: 'May I?' }),
    event('interaction.asked', 'b', { tool: 'ls' }),
    event('interaction.answered', 'c', { title: 'no' }),
  ]);
  expect([...titles]).toEqual([
    ['a', 'May I?'],
    ['b', 'ls'],
  ]);
});

describe('agents and flows', () => {
  const version = (name: string, number: string, retired_at?: string) =>
    ({ name, version: number, retired_at }) as Definition;
  test('one row per name with the version that a new session uses', () => {
    const made = newest([version('a', '9'), version('a', '10'), version('b', '2', '2026'), version('b', '1')]);
    expect(
      made.map(({ latest, versions }) => [latest.name, latest.version, versions.map((one) => one.version)]),
    ).toEqual([
      ['a', '10', ['10', '9']],
      ['b', '1', ['2', '1']],
    ]);
  });
  test.each([
    ['', { as: 'nothing' }],
    ['  ', { as: 'nothing' }],
    ['write it', { as: 'text', value: 'write it' }],
    ['{"a": 1}', { as: 'json', value: { a: 1 } }],
    ['{not json', { as: 'broken', value: '{not json' }],
  ])('%j as input', (text, expected) => {
    expect(inputOf(text)).toEqual(expected);
  });
  test('each draft of a definition is stored under its own name', () => {
    const from = { name: 'a', version: '1' };
    const names = [draftName('agent'), draftName('flow'), draftName('agent', from), draftName('flow', from)];
    names.push(draftName('agent', { ...from, version: '2' }), draftName('agent', { ...from, name: 'b' }));
    expect(new Set(names).size).toBe(names.length);
  });
});

test('dropped suggestions are read only from metadata of the expected shape', () => {
  const one = { id: 'x', reason: 'not allowed' };
  expect(droppedOf({ dropped_suggestions: [one, { id: 3 }, null] })).toEqual([one]);
  for (const other of [undefined, null, 'text', [], { dropped_suggestions: 'no' }])
    expect(droppedOf(other)).toEqual([]);
});

test.each([
  ['100 more suggestions were not checked', 'more 100'],
  ["the agent's version does not allow its model this suggestion", 'notAllowed'],
  ['the parameter `x` is not allowed', 'parameter x'],
  ['its label must not be empty', 'field label form.wrong.required'],
  ['another reason', 'another reason'],
])('a suggestion dropped because %s', (reason, expected) => {
  const t = ((key: string, { limit, count, ...values }: Record<string, string>) =>
    [key.replace('suggestions.reasons.', ''), ...Object.values(values)].join(' ')) as never;
  expect(droppedReason(t, reason)).toBe(expected);
});

describe('the name of the asker', () => {
  const t = ((key: string, values: object) => `${key} ${Object.values(values).join(' ')}`) as never;
  const by = { kind: 'agent', name: 'key' } as const;
  test.each([
    ['an agent of its own name', { asked_by: by, agent: 'key' }, 'key'],
    ['an agent without one', { asked_by: by }, 'key'],
    ['a key in the session of another agent', { asked_by: by, agent: 'bot' }, 'question.asker key bot'],
    ['an agent that the server runs', { asked_by: by, agent: 'bot', driven: true }, 'bot'],
  ])('%s', (_, question, expected) => {
    expect(askerOf(t, question as never)).toBe(expected);
  });
});

describe('the reason why a call is asked about', () => {
  const t = ((key: string) => `[${key}]`) as never;
  const rule = { policy: 'p' };
  test.each([
    ['the server alone', 'No rule matches this call.', rule, '[question.reasons.none]'],
    ['with what it found', 'No rule matches this call. It has `x`.', rule, '[question.reasons.none] It has `x`.'],
    ['a policy that begins alike', 'No rule matches this call.s', rule, 'No rule matches this call.s'],
    ['an agent', 'No rule matches this call.', undefined, 'No rule matches this call.'],
    ['nobody', undefined, rule, undefined],
  ])('%s', (_, message, asked_by_rule, expected) => {
    expect(messageOf(t, { message, asked_by_rule } as never)).toBe(expected);
  });
});

test('an edit has the declared fields and the fields of the call', () => {
  const seen = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } };
  const declared = { type: 'object', properties: { a: { enum: ['x'] }, c: {} } };
  expect(withSeen(declared, seen).properties).toEqual({ a: { enum: ['x'] }, b: { type: 'string' }, c: {} });
  expect(withSeen(undefined, seen)).toBe(seen);
  expect(withSeen({ type: 'object' }, seen)).toBe(seen);
});

test('the approved call contains the edited arguments', () => {
  const action = { tool: 'rm', arguments: { path: 'a' }, digest: '' };
  const edited = { answer: { arguments: { path: 'b' } } } as unknown as Resolution;
  expect(approvedCall({ action })).toEqual({ tool: 'rm', arguments: { path: 'a' } });
  expect(approvedCall({ action, resolution: edited })).toEqual({ tool: 'rm', arguments: { path: 'b' } });
  expect(approvedCall({ action: undefined })).toBeUndefined();
});

test.each([3600, 86_400, 604_800, 2_592_000])('the interval labels of %d seconds are distinct', (window_seconds) => {
  for (const count of [partsOf(window_seconds), 8]) {
    const begin = Date.parse('2026-11-03T20:30:00Z');
    const from = (at: number) => new Date(begin + (at * window_seconds * 1000) / count).toISOString();
    const times = Array.from({ length: count }, (_, at) => ({ from: from(at), closed: {} }));
    const ends = endsOf(series({ times, window_seconds }), 'en-GB');
    expect(new Set(ends).size).toBe(count);
  }
});

test('a week is shown by its days', () => {
  const from = (at: number) => new Date(Date.parse('2026-11-03T12:00:00Z') + at * 86_400_000).toISOString();
  const times = Array.from({ length: partsOf(604_800) }, (_, at) => ({ from: from(at), closed: {} }));
  const ends = endsOf(series({ times, window_seconds: 604_800 }), 'en-GB');
  expect([ends[0], ends.at(-1)]).toEqual(['4 Nov', '10 Nov']);
});

test('only reasons of the server are translated', () => {
  const t = ((key: string) => `[${key}]`) as never;
  expect(reasonOf(t, 'nobody answered in time')).toBe('[question.endReasons.unanswered]');
  expect(reasonOf(t, 'nobody answered in time!')).toBe('nobody answered in time!');
  expect(reasonOf(t, 'toString')).toBe('toString');
});
