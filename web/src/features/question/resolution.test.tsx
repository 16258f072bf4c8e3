import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, test } from 'vitest';
import type { Interaction } from '@/api/types';
import { Ended } from './resolution';

function drawn(feedback: string, reason: string): string {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  const box = document.body.appendChild(document.createElement('div'));
  const root = createRoot(box);
  const resolution = {
    status: 'auto_resolved',
    at: '2026-11-15T10:00:00Z',
    answer: { effect: 'provide', feedback },
    reason,
  };
  const cache = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  act(() =>
    root.render(
      <QueryClientProvider client={cache}>
        <Ended question={{ options: [], resolution } as unknown as Interaction} />
      </QueryClientProvider>,
    ),
  );
  const text = box.textContent ?? '';
  act(() => root.unmount());
  box.remove();
  return text;
}

test('a reason equal to the feedback of the answer is shown once', () => {
  expect(drawn('kept since May', 'kept since May').split('kept since May')).toHaveLength(2);
  expect(drawn('looks good', 'the rule says so')).toMatch(/looks good.*the rule says so/u);
});
