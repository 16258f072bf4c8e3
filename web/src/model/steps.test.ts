import { expect, test } from 'vitest';
import type { SessionStatus, Step, StepStatus } from '@/api/types';
import { draftOf, nextVersion } from './drafts';
import { stepCommands } from './steps';

const step = (id: string, status: StepStatus) => ({ id, status, attempt: 1, created_at: '' }) as Step;

function commands(status: StepStatus, session: SessionStatus, driven = true): string[] {
  const last = step('b', status);
  return stepCommands({ driven, status: session, steps: [step('a', 'failed'), last] }, last);
}

test.each([
  ['failed', 'failed', ['retry_step', 'skip_step', 'approve_step']],
  ['running', 'running', ['skip_step', 'approve_step']],
  ['blocked_waiting_user', 'waiting_user_input', ['skip_step', 'approve_step']],
  ['pending', 'cancelled', []],
  ['completed', 'completed', []],
  ['cancelled', 'cancelled', []],
] as const)('a step that is %s in a session that is %s', (status, session, expected) => {
  expect(commands(status, session)).toEqual(expected);
});

test('only the current step of a hosted session takes commands', () => {
  const first = step('a', 'failed');
  const session = { driven: true, status: 'failed' as const, steps: [first, step('b', 'failed')] };
  expect(stepCommands(session, first)).toEqual([]);
  expect(commands('failed', 'failed', false)).toEqual([]);
});

test.each([
  ['1', '2'],
  ['1.9', '1.10'],
  ['v3-rc1', 'v3-rc2'],
  ['2026a', '2027a'],
  ['beta', 'beta-2'],
])('after version %s comes %s', (version, expected) => {
  expect(nextVersion(version)).toBe(expected);
});

test('a new draft is an example or the next version of a definition', () => {
  expect(JSON.parse(draftOf('flow'))).toMatchObject({ steps: [{ agent: 'my-agent' }] });
  expect(JSON.parse(draftOf('agent', { name: 'scribe', version: '3', tools: [] }))).toEqual({
    name: 'scribe',
    version: '4',
    tools: [],
  });
});
