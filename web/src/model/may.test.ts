import { expect, test } from 'vitest';
import type { Interaction } from '@/api/types';
import { barred } from './may';

const alice = { name: 'alice', role: 'operator', groups: ['night'] } as const;
const vera = { name: 'vera', role: 'viewer', groups: [] as string[] } as const;
const audience = (more: Partial<Interaction['audience']> = {}) => ({
  asked_by: { kind: 'agent', name: 'bot' } as Interaction['asked_by'],
  audience: { quorum: 1, four_eyes: false, distinct_groups: false, ...more },
});

const several = (...all: Partial<Interaction['audience']>[]) => ({
  ...audience(all[0]),
  requirements: all.map((one) => ({ quorum: 1, four_eyes: false, distinct_groups: false, met: false, ...one })),
});

test.each([
  ['an operator', audience(), alice, 'dana', undefined],
  ['a viewer', audience(), vera, 'dana', 'not_in_audience'],
  ['a viewer who started the session', audience(), vera, 'vera', undefined],
  ['a viewer who is named', audience({ users: ['vera'] }), vera, 'dana', undefined],
  ['a viewer whose role is named', audience({ roles: ['viewer'] }), vera, 'dana', undefined],
  ['who asked, in other letters', audience(), { ...alice, name: 'BOT' }, 'bob', 'own'],
  ['an operator who is not named', audience({ users: ['bob'] }), alice, 'dana', 'not_in_audience'],
  ['one of the group', audience({ users: [], groups: ['night'] }), alice, 'dana', undefined],
  ['one of another group', audience({ groups: ['day'] }), alice, 'dana', 'not_in_audience'],
  ['who started, with four eyes', audience({ four_eyes: true }), alice, 'alice', 'four_eyes'],
  ['another, with four eyes', audience({ four_eyes: true }), alice, 'dana', undefined],
  ['who asked', { ...audience(), asked_by: { kind: 'user', name: 'alice' } as never }, alice, 'dana', 'own'],
  ['one of several', several({ groups: ['night'] }, { groups: ['day'] }), alice, 'dana', undefined],
  ['the second of several', several({ groups: ['day'] }, { roles: ['operator'] }), alice, 'dana', undefined],
  ['none of several', several({ groups: ['day'] }, { roles: ['admin'] }), alice, 'dana', 'not_in_audience'],
  [
    'who started, with four eyes in one',
    several({ groups: ['night'], four_eyes: true }, { roles: ['operator'] }),
    alice,
    'alice',
    undefined,
  ],
  [
    'who started, with four eyes in their own',
    several({ groups: ['night'], four_eyes: true }, { roles: ['admin'] }),
    alice,
    'alice',
    'four_eyes',
  ],
])('%s', (_, asked, me, startedBy, expected) => {
  expect(barred(asked, { ...me, groups: [...me.groups] }, startedBy)).toBe(expected);
});
