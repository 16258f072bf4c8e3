import { create } from 'zustand';

/** Something said at the edge of the page. */
export interface Told {
  id: number;
  tone: 'good' | 'danger';
  text: string;
}

export const useTold = create<{ told: Told[] }>(() => ({ told: [] }));
let last = 0;

/** Says something at the edge of the page for a moment. Whatever must be read stands in the page itself. */
export function tell(text: string, tone: Told['tone'] = 'good'): void {
  last += 1;
  const id = last;
  useTold.setState(({ told }) => ({ told: [...told.slice(-2), { id, tone, text }] }));
}
