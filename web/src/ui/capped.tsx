import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';

/** Number of list items shown before the rest is folded with a count. */
const MOST = 20;

/** Limits a list from an agent to its first items, with a button that shows the rest. */
export function useCapped<T>(all: readonly T[]): { shown: readonly T[]; more: ReactNode } {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const more =
    all.length > MOST ? (
      <button
        type="button"
        className="my-1.5 font-medium text-accent-ink text-sm underline-offset-2 hover:underline"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {open ? t('common.fold') : t('common.unfoldRows', { count: all.length })}
      </button>
    ) : null;
  return { shown: open ? all : all.slice(0, MOST), more };
}
