import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Interaction } from '@/api/types';
import { type Language, speak } from '@/lib/i18n';
import { rememberable } from './remember';
import { Audiences } from './why';

let root: Root;
let place: HTMLElement;

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  place = document.body.appendChild(document.createElement('div'));
  root = createRoot(place);
});
afterEach(() => act(() => root.unmount()));

const one = (more: object) => ({ quorum: 1, four_eyes: false, distinct_groups: false, ...more });
const ops = one({ groups: ['ops'], quorum: 2, four_eyes: true });
const several = {
  audience: ops,
  requirements: [
    { ...ops, met: false },
    { ...one({ roles: ['operator'] }), met: true },
  ],
} as unknown as Interaction;

async function drawn(language: Language, question: Interaction) {
  await act(() => speak(language));
  await act(() => root.render(<Audiences question={question} />));
  return [...place.querySelectorAll('li')].map((item) => [
    item.querySelector('svg')?.getAttribute('aria-label'),
    item.textContent,
  ]);
}

test('several requirements are shown as a list with a mark for those that are met', async () => {
  expect(await drawn('en', several)).toEqual([
    ['requirement not met yet', 'group ops · 2 people must agree · except the person who started the session'],
    ['requirement met', 'any operator · 1 person must agree'],
  ]);
  expect((await drawn('ru', several)).map(([mark]) => mark)).toEqual(['условие ещё не выполнено', 'условие выполнено']);
  expect((await drawn('zh', several)).map(([mark]) => mark)).toEqual(['尚未满足', '已满足']);
});

test('a single audience is shown in one line', async () => {
  expect(await drawn('en', { audience: one({ users: ['ann'] }) } as unknown as Interaction)).toEqual([]);
  expect(place.textContent).toBe('ann');
});

test('an approval by several audiences cannot be remembered', () => {
  const asked = { kind: 'approval', action: {}, asked_by_rule: {}, audience: one({}) } as unknown as Interaction;
  expect(rememberable(asked, 'operator')).toBe(true);
  expect(rememberable({ ...asked, requirements: several.requirements }, 'operator')).toBe(false);
});
