import { expect, test } from 'vitest';
import { auditSearch, inboxSearch, sessionsSearch, settingsSearch, signInSearch } from './search';

test('only known values are read from the search parameters', () => {
  expect(
    inboxSearch({
      status: 'expired',
      sort: 'newest',
      q: 'deploy',
      mine: true,
      overdue: 'yes',
      kind: '',
      evil: '<script>',
    }),
  ).toEqual({
    status: 'expired',
    sort: 'newest',
    q: 'deploy',
    mine: true,
  });
  expect(inboxSearch({ status: 'open', move: 'terminate' })).toEqual({});
  expect(inboxSearch({ q: 42 })).toEqual({ q: '42' });
  expect(sessionsSearch({ status: 'paused', agent: 'bot' })).toEqual({ status: 'paused', agent: 'bot' });
  expect(auditSearch({ period: 'week', by: 'alice', until: 'x' })).toEqual({ period: 'week', by: 'alice' });
  expect(settingsSearch({ tab: 'webhooks', webhook: 'whk_1', state: 'lost' })).toEqual({
    tab: 'webhooks',
    webhook: 'whk_1',
  });
});

test.each([
  ['/inbox?q=1', '/inbox?q=1'],
  ['/sign-in?next=%2Finbox', undefined],
  ['//evil.example', undefined],
  ['/\\evil.example', undefined],
  ['/\t/evil.example', undefined],
  ['/\n/evil.example', undefined],
  ['/\t\\evil.example', undefined],
  ['\t//evil.example', undefined],
  ['/.//evil.example', undefined],
  ['/x/..//evil.example', undefined],
  ['/./sign-in', undefined],
  ['https://evil.example', undefined],
  ['javascript:alert(1)', undefined],
])('after signing in, %s leads to %s', (next, expected) => {
  expect(signInSearch({ next }).next).toBe(expected);
});
