import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import type en from '@/locales/en';

export const LANGUAGES = [
  ['en', 'English'],
  ['ru', 'Русский'],
  ['zh', '中文'],
] as const;

export type Language = (typeof LANGUAGES)[number][0];

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en };
  }
}

const LOAD: Record<Language, () => Promise<{ default: object }>> = {
  en: () => import('@/locales/en'),
  ru: () => import('@/locales/ru'),
  zh: () => import('@/locales/zh'),
};

/** The first supported language among the preferred languages of the reader. */
export function preferredLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const found = LANGUAGES.find(([code]) => tag.toLowerCase().split('-')[0] === code);
    if (found) return found[0];
  }
  return 'en';
}

export async function speak(language: Language): Promise<void> {
  const words = (await LOAD[language]()).default;
  if (!i18next.isInitialized) {
    await i18next.use(initReactI18next).init({
      lng: language,
      resources: { [language]: { translation: words } },
      interpolation: { escapeValue: false },
      returnNull: false,
    });
  } else {
    i18next.addResourceBundle(language, 'translation', words, true, true);
    await i18next.changeLanguage(language);
  }
  document.documentElement.lang = language === 'zh' ? 'zh-Hans' : language;
}
