import { act, type ReactNode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SessionEvent } from '@/api/types';
import { type Language, speak } from '@/lib/i18n';
import { AgentText } from './agent-text';
import { EventWords } from './event-line';
import { useWords } from './schema-form/words';

let root: Root;
let place: HTMLElement;

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  place = document.body.appendChild(document.createElement('div'));
  root = createRoot(place);
});
afterEach(() => act(() => root.unmount()));

async function said(language: Language, node: ReactNode): Promise<string> {
  await act(() => speak(language));
  await act(() => root.render(node));
  return place.textContent ?? '';
}

test.each([
  ['en', 'x'.repeat(4000), '4000 characters, 1 line'],
  ['en', 'x\n'.repeat(40), '80 characters, 41 lines'],
  ['ru', 'x'.repeat(4001), '4001 символ, 1 строка'],
  ['ru', 'x\n'.repeat(42), '84 символа, 43 строки'],
  ['zh', 'x'.repeat(4000), '4000 个字符，1 行'],
] as const)('in %s a folded text shows its full length', async (language, text, length) => {
  expect(await said(language, <AgentText text={text} />)).toMatch(new RegExp(`${length}$`, 'u'));
});

test.each([
  ['interaction.answered', 'provide', 'Answered Where?'],
  ['interaction.answered', 'custom', 'Answered Where?'],
  ['interaction.auto_resolved', 'provide', 'Answered automatically Where?'],
  ['interaction.answered', 'reject', 'Answered: rejected Where?'],
])('%s with %s', async (type, effect, words) => {
  const event = { type, data: { title: 'Where?', effect } } as unknown as SessionEvent;
  expect(await said('en', <EventWords event={event} />)).toBe(words);
});

function Limits() {
  const words = useWords();
  return [words('minLength', 1), words('maxLength', 5), words('minItems', 1), words('minimum', 1)].join(' ');
}

test.each([
  ['en', 'At least 1 character. At most 5 characters. At least 1 item. At least 1.'],
  ['ru', 'Не меньше 1 символа. Не больше 5 символов. Не меньше 1 пункта. Не меньше 1.'],
  ['zh', '至少 1 个字符。 最多 5 个字符。 至少 1 项。 不小于 1。'],
] as const)('in %s limits use the right plural form', async (language, words) => {
  expect(await said(language, <Limits />)).toBe(words);
});
