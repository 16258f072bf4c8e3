import { expect, test } from 'vitest';
import { byDeadline } from './by-deadline';
import type { Interaction } from './types';

type Filter = { status?: string; sort?: 'oldest' | 'newest' | 'deadline' };

/** A fake server with two items per page. */
function server(all: { id: string; deadline?: string }[]) {
  return async ({ sort }: Filter, cursor = '0') => {
    const list =
      sort === 'deadline'
        ? all.filter((one) => one.deadline).sort((a, b) => (a.deadline ?? '').localeCompare(b.deadline ?? ''))
        : all;
    const end = Number(cursor) + 2;
    const interactions = list.slice(Number(cursor), end) as Interaction[];
    return { interactions, next: end < list.length ? String(end) : null };
  };
}

async function read(filter: Filter, all: { id: string; deadline?: string }[]): Promise<string> {
  let found = '';
  let at: string | undefined;
  do {
    const page = await byDeadline(filter, server(all), at);
    found += page.interactions.map(({ id }) => id).join('');
    at = page.next ?? undefined;
  } while (at);
  return found;
}

const ALL = [
  { id: 'a' },
  { id: 'b', deadline: '3' },
  { id: 'c', deadline: '1' },
  { id: 'd' },
  { id: 'e', deadline: '2' },
];

test('questions are listed by nearest deadline, each exactly once', async () => {
  expect(await read({ status: 'pending', sort: 'deadline' }, ALL)).toBe('cebad');
  expect(await read({ status: 'pending', sort: 'deadline' }, [{ id: 'a' }])).toBe('a');
  expect(await read({ status: 'pending', sort: 'deadline' }, [])).toBe('');
});
