import { create } from 'zustand';

/** A toast message. */
export interface Told {
  id: number;
  tone: 'good' | 'danger';
  text: string;
}

export const useTold = create<{ told: Told[] }>(() => ({ told: [] }));
let last = 0;

/** Shows a toast for a moment. Text that must be read belongs in the page itself. */
export function tell(text: string, tone: Told['tone'] = 'good'): void {
  last += 1;
  const id = last;
  useTold.setState(({ told }) => ({ told: [...told.slice(-2), { id, tone, text }] }));
}
