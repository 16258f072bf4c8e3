import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { messageOf, moveLabel, promptOf, reasonOf, sendLabel, titleOf } from './labels';

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

test('reasons for the end of an action are those of the server', () => {
  const t = ((key: string) => `[${key}]`) as never;
  const sources = ['engine/src/actions/run.rs', 'domain/src/action.rs'].map((file) =>
    readFileSync(join(import.meta.dirname, '../../../crates', file), 'utf8'),
  );
  for (const [reason, key] of [
    ['the agent reported the outcome', 'reported'],
    ['it was allowed, and was not started in time', 'unstarted'],
    ['its outcome was not reported in time', 'unreported'],
  ]) {
    expect(reasonOf(t, reason ?? '')).toBe(`[question.endReasons.${key}]`);
    expect(sources.some((source) => source.includes(`"${reason}"`))).toBe(true);
  }
});
