import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { messageOf, moveLabel, promptOf, reasonOf, rulingReason, sendLabel, titleOf } from './labels';

describe('the question about an unknown outcome', () => {
  const t = ((key: string) => `[${key}]`) as never;
  const action = { tool: 'deploy', arguments: {}, digest: '' };
  const server = readFileSync(join(import.meta.dirname, '../../../crates/engine/src/actions/settle.rs'), 'utf8');

  test('has a translated title, message and options', () => {
    const message = 'It was started, and the agent never reported the outcome. It may have run, fully or partly.';
    expect(titleOf(t, { kind: 'choice', title: 'What happened to deploy?', action })).toBe('[question.outcome.title]');
    expect(titleOf(t, { kind: 'choice', title: 'What happened to it?', action })).toBe('What happened to it?');
    expect(messageOf(t, { message } as never)).toBe('[question.outcome.message]');
    expect(server).toContain(message);
    expect(server).toContain('What happened to {}?');
  });

  test('has them also if 0.1 stored the question', () => {
    const message = 'It was started, and its outcome was never reported. It may have run, wholly or in part.';
    expect(titleOf(t, { kind: 'choice', title: 'What became of deploy?', action })).toBe('[question.outcome.title]');
    expect(messageOf(t, { message } as never)).toBe('[question.outcome.message]');
  });

  test.each([
    ['it_ran', 'It ran'],
    ['it_failed', 'It did not run, or failed'],
    ['run_again', 'Run it again'],
    ['leave', 'Leave it unknown'],
  ])('has the option %s of the server', (id, label) => {
    expect(moveLabel(t, { id, label })).toBe(`[moves.${id}]`);
    expect(server).toContain(`"${id}", "${label}"`);
  });
});

describe.each([
  ['retry', 'Ask for changes', 'What should change?'],
  ['retry', 'Think again', 'What should be different?'],
  ['revise', 'Ask for changes', 'What should change?'],
  ['revise', 'Revise', 'What should be different?'],
])('the option %s labelled %s', (id, label, input_prompt) => {
  const t = ((key: string) => `[${key}]`) as never;
  const option = { id, label, effect: 'retry', input_prompt };

  test('is translated, and its send button says that the work is sent back', () => {
    expect(moveLabel(t, option)).toBe(`[moves.${id}]`);
    expect(sendLabel(t, { kind: 'review' }, { key: id, option } as never)).toBe('[moves.sendBack]');
    expect(promptOf(t, option)).toBe('[moves.prompt]');
  });
});

describe('reasons for the end', () => {
  const t = ((key: string, values: object) =>
    [key.replace('question.endReasons.', ''), ...Object.values(values)].join(' ')) as never;

  test.each([
    ['engine/src/actions/report.rs', 'the agent reported the outcome', 'reported'],
    ['domain/src/action.rs', 'it was allowed, and was not started in time', 'unstarted'],
    ['domain/src/action.rs', 'its outcome was not reported in time', 'unreported'],
    ['domain/src/interaction.rs', 'closed by ana before the deadline', 'early ana'],
    ['engine/src/steps/command.rs', 'a person sent `skip_step`', 'command skip_step'],
    ['engine/src/steps/lease.rs', 'each worker that claimed the step died before it made progress', 'workersDied'],
    ['engine/src/steps/end.rs', 'its step ended before it started: no longer needed', 'stepEnded no longer needed'],
    ['engine/src/steps/end.rs', 'the step that asked has ended', 'askerEnded'],
    [
      'engine/src/actions/report.rs',
      'it failed; the report came after the session had ended and was not stored',
      'reportedLate',
    ],
    ['domain/src/action.rs', 'a person reported that it failed', 'reportedFailed'],
    ['agent/src/worker/settle.rs', 'the step ended before this call was handled', 'unhandled'],
    ['agent/src/machine/limits.rs', 'people would be asked in more than 3 rounds, the limit `rounds`', 'rounds 3'],
  ])('%s gives: %s', (file, reason, expected) => {
    expect(reasonOf(t, reason)).toBe(expected);
    const server = readFileSync(join(import.meta.dirname, '../../../crates', file), 'utf8');
    const text = reason.replace(/ana|skip_step|3/u, '{}').replace('no longer needed', '{why}');
    expect(server).toContain(`"${text}"`);
  });

  test.each([
    ['the agent has reported what became of it', 'reported'],
    ['ended before its time by ana', 'early ana'],
    ['a person said so: skip_step', 'command skip_step'],
    ['every worker that claimed it died before it made progress', 'workersDied'],
    ['its step ended before it was begun: a person said so: skip_step', 'stepEnded command skip_step'],
    ['it failed; the report arrived after the end of its session and is not kept', 'reportedLate'],
    ['a person says that it did not succeed', 'reportedFailed'],
    ['the step ended before anything was done about this', 'unhandled'],
    ['people would have been asked in more than 3 rounds (limit `rounds`)', 'rounds 3'],
  ])('0.1 gave: %s', (reason, expected) => {
    expect(reasonOf(t, reason)).toBe(expected);
  });
});

describe('reasons of a ruling', () => {
  const t = ((key: string, values: object = {}) =>
    [key.replace('question.reasons.', ''), ...Object.values(values)].join(' ')) as never;

  test.each([
    ['It does not fit the schema of its tool: `/n` Must be text.', 'misfit `/n` Must be text'],
    ['Rule `a` could not be evaluated: no such key.', 'failed a no such key'],
    [
      'Rule `a` could not be evaluated: no such key. Its shell is not trusted: a. b. Rules that ask about it too: `b`.',
      'failed a no such key doubt a. b parts.shell also `b`',
    ],
    ['No rule matches this call. Its url is not trusted: it has a user.', 'none doubt it has a user parts.url'],
    [
      'No rule matches this call. It has `env` beside its sql: a rule that allows the call by its sql must test that argument too.',
      'none beside env besideParts.sql',
    ],
    [
      'No rule matches a part of this call. Not allowed because of `docker …`, writing to `/x`; the other part is allowed by `build`. Rule `r` does not match: no.',
      'nonePart blamed `docker …`, callParts.write `/x` allowed `build` nearest r no',
    ],
    ['It pushes. Denied because of `git push …`.', 'It pushes. denied `git push …` '],
    ['approvals are paused by ann: night: shift', 'paused ann night: shift'],
    ['the policy is switched off by ann: no reason was given', 'paused ann noReason'],
    ['No rule matches this call. A later sentence.', 'none A later sentence.'],
    ['Deploys need two people.', 'Deploys need two people.'],
  ])('%s', (reason, expected) => {
    expect(rulingReason(t, reason)).toBe(expected);
  });

  test.each([
    ['policy/src/settle.rs', 'No rule matches {what}.'],
    ['policy/src/settle.rs', 'a part of this call'],
    ['policy/src/reason.rs', 'could not be evaluated: '],
    ['policy/src/reason.rs', ' is not trusted: '],
    ['policy/src/reason.rs', ' Rules that ask about it too: '],
    ['policy/src/reason.rs', ' must test that argument too.'],
    ['policy/src/reason.rs', ' because of '],
    ['policy/src/reason.rs', 'writing to `{text}`'],
    ['policy/src/reason.rs', ' does not match: '],
    ['policy/src/builtin.toml', 'It changes files or runs a program.'],
    ['policy/src/builtin.toml', 'Reading changes nothing.'],
    ['engine/src/policy/ruling.rs', 'It does not fit the schema of its tool: '],
    ['engine/src/policy/ruling.rs', 'approvals are paused by '],
    ['engine/src/policy/ruling.rs', 'no reason was given'],
  ])('%s writes "%s"', (file, text) => {
    expect(readFileSync(join(import.meta.dirname, '../../../crates', file), 'utf8')).toContain(text);
  });
});
