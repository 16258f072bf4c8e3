import type { Interaction } from './types';

interface Filter {
  status?: string | null;
  sort?: 'oldest' | 'newest' | 'deadline' | null;
}

interface Page {
  interactions: Interaction[];
  next?: string | null;
}

/** Cursor prefix of the part without deadlines. */
const REST = 'rest ';

/** Questions with a deadline, nearest first, followed by the others, oldest first. */
export async function byDeadline<F extends Filter>(
  filter: F,
  page: (filter: F, cursor?: string) => Promise<Page>,
  at?: string,
): Promise<Page> {
  const others = async (cursor?: string): Promise<Page> => {
    const { interactions, next } = await page({ ...filter, sort: 'oldest' }, cursor);
    // Closed questions are not part of the deadline order.
    const open = filter.status === 'pending';
    return { interactions: interactions.filter((one) => !open || !one.deadline), next: next && REST + next };
  };
  if (at?.startsWith(REST)) return others(at.slice(REST.length));
  const due = await page(filter, at);
  if (due.next) return due;
  const rest = await others();
  return { interactions: [...due.interactions, ...rest.interactions], next: rest.next };
}
