import { create } from 'zustand';

/** A toast message. */
export interface Toast {
  id: number;
  tone: 'good' | 'danger';
  text: string;
}

export const useToasts = create<{ toasts: Toast[] }>(() => ({ toasts: [] }));
let last = 0;

/** Shows a toast for a moment. Text that must be read belongs in the page itself. */
export function showToast(text: string, tone: Toast['tone'] = 'good'): void {
  last += 1;
  const id = last;
  useToasts.setState(({ toasts }) => ({ toasts: [...toasts.slice(-2), { id, tone, text }] }));
}
