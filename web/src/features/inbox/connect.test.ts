import { expect, test } from 'vitest';
import { connectScript } from './connect';

const first = (tenant: string, project: string) =>
  connectScript('http://here', { tenant, project }).split('\n')[0] ?? '';

test('the suggested command creates a key in the project of the reader', () => {
  expect(first('default', 'default')).toBe('KEY=$(holdpoint keys create --role agent --user my-agent)');
  expect(first('default', 'p2')).toContain(' --project p2)');
  expect(first('acme', 'default')).toContain(' --tenant acme)');
  expect(first('acme', "o'hara's")).toContain(" --tenant acme --project 'o'\\''hara'\\''s')");
});
