import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { messageOf, moveLabel, reasonOf, titleOf } from './labels';

describe('the question about an unknown outcome', () => {
  const t = ((key: string) => `[${key}]`) as never;
  const action = { tool: 'deploy', arguments: {}, digest: '' };
  const server = readFileSync(join(import.meta.dirname, '../../../crates/engine/src/actions/settle.rs'), 'utf8');

  test('has a translated title, message and options', () => {
    const message = 'It was started, and its outcome was never reported. It may have run, wholly or in part.';
    expect(titleOf(t, { kind: 'choice', title: 'What became of deploy?', action })).toBe('[question.outcome.title]');
    expect(titleOf(t, { kind: 'choice', title: 'What became of it?', action })).toBe('What became of it?');
    expect(messageOf(t, { message } as never)).toBe('[question.outcome.message]');
    expect(server).toContain(message);
    expect(server).toContain('What became of {}?');
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

test('reasons for the end of an action are those of the server', () => {
  const t = ((key: string) => `[${key}]`) as never;
  const sources = ['engine/src/actions/run.rs', 'domain/src/action.rs'].map((file) =>
    readFileSync(join(import.meta.dirname, '../../../crates', file), 'utf8'),
  );
  for (const [reason, key] of [
    ['the agent has reported what became of it', 'reported'],
    ['it was allowed, and was not started in time', 'unstarted'],
    ['its outcome was not reported in time', 'unreported'],
  ]) {
    expect(reasonOf(t, reason ?? '')).toBe(`[question.endReasons.${key}]`);
    expect(sources.some((source) => source.includes(`"${reason}"`))).toBe(true);
  }
});
