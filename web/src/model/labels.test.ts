import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { messageOf, moveLabel, titleOf } from './labels';

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
