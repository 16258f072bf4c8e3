import { describe, expect, test } from 'vitest';
import { noteServerTime, serverNow } from './clock';
import { asLocal, countdown, span, spanBetween, urgency, withOffset } from './time';

const UNITS = { day: 'd', hour: 'h' };

test.each([
  [-5, '0:00'],
  [1, '0:01'],
  [59_001, '1:00'],
  [245_000, '4:05'],
  [3_845_000, '1:04:05'],
  [183_600_000, '2 d 3 h'],
])('%d ms are %s', (left, expected) => {
  expect(countdown(left, UNITS)).toBe(expected);
});

test.each([
  [700_000, 'calm'],
  [600_000, 'soon'],
  [60_000, 'last'],
  [0, 'over'],
])('%d ms left is %s', (left, expected) => {
  expect(urgency(left)).toBe(expected);
});

describe("the browser's date and time control", () => {
  test('gets an offset, and seconds', () => {
    expect(withOffset('2026-11-15T10:30')).toMatch(/^2026-11-15T10:30:00[+-]\d\d:\d\d$/u);
  });
  test('names the same moment in both directions', () => {
    const sent = withOffset('2026-07-01T23:59');
    expect(asLocal(sent)).toBe('2026-07-01T23:59');
    expect(new Date(sent).getTime()).toBe(new Date('2026-07-01T23:59').getTime());
  });
  test('leaves empty and unreadable values empty', () => {
    expect([withOffset(''), asLocal('nonsense')]).toEqual(['', '']);
  });
});

test('a duration is shown in its largest unit', () => {
  expect([span(45, 'en'), span(90, 'en'), span(5400, 'en'), span(604_800, 'en')]).toEqual([
    '45 sec',
    '1.5 min',
    '1.5 hr',
    '7 days',
  ]);
});

test('a duration below one second is shown as less than one second', () => {
  expect([span(0, 'en'), span(0.004, 'en'), span(0.94, 'en')]).toEqual(Array(3).fill('< 1 sec'));
});

test('a range of durations is shown in one unit', () => {
  const ranges = [
    [60, 600],
    [600, 3600],
    [3600, 86_400],
  ] as const;
  expect(ranges.map(([from, to]) => spanBetween(from, to, 'en'))).toEqual(['1–10 min', '10–60 min', '1–24 hr']);
});

test('countdowns follow the clock of the server, not of this machine', () => {
  const here = Date.parse('2026-11-15T10:00:00Z');
  noteServerTime('Sun, 15 Nov 2026 10:05:00 GMT', here);
  expect(Math.round((serverNow(here) - here) / 1000)).toBe(301);
  noteServerTime('Sun, 15 Nov 2026 10:00:00 GMT', here);
  expect(serverNow(here)).toBe(here);
  noteServerTime('not a date', here);
  expect(serverNow(here)).toBe(here);
});
