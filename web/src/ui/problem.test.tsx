import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, test } from 'vitest';
import { Problem } from '@/api/problem';
import { ProblemNotice } from './problem';

test('the message that the server cannot be reached stays until it responds', async () => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  const box = document.body.appendChild(document.createElement('div'));
  const root = createRoot(box);
  const cache = new QueryClient();
  const show = (error: Problem) =>
    act(() =>
      root.render(
        <QueryClientProvider client={cache}>
          <ProblemNotice error={error} />
        </QueryClientProvider>,
      ),
    );
  const read = (name: string) => act(() => cache.fetchQuery({ queryKey: [name], queryFn: () => 1 }));
  show(new Problem(0, { code: 'offline', title: 'cannot be reached' }));
  expect(box.textContent).toBe('cannot be reached');
  act(() => cache.setQueryData(['by hand'], 1));
  expect(box.textContent).toBe('cannot be reached');
  await read('one');
  expect(box.textContent).toBe('problems.back_online');
  show(new Problem(0, { code: 'offline', title: 'cannot be reached again' }));
  expect(box.textContent).toBe('cannot be reached again');
  show(new Problem(409, { code: 'conflict', title: 'no' }));
  await read('two');
  expect(box.textContent).toBe('no');
  act(() => root.unmount());
});
