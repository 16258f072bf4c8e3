import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { type Language, preferredLanguage } from '@/lib/i18n';

export type Theme = 'system' | 'light' | 'dark';

interface Preferences {
  theme: Theme;
  language: Language;
  notify: boolean;
}

/** Preferences stored in this browser. */
export const usePreferences = create<Preferences>()(
  persist((): Preferences => ({ theme: 'system', language: preferredLanguage(navigator.languages), notify: false }), {
    name: 'holdpoint.preferences',
  }),
);

export function showTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
