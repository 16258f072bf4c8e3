import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { statsQuery } from '@/api/queries';

const DAY = 86_400;

/** How many questions are open. */
export function useOpenCount(): number | undefined {
  const { data } = useQuery(statsQuery(DAY));
  return data ? Object.values(data.open).reduce((sum, count) => sum + count, 0) : undefined;
}

/** The tab says what is shown and how much is open; so does the badge of an installed page. */
export function useTitle(name: string): void {
  const open = useOpenCount();
  useEffect(() => {
    document.title = `${open ? `(${open}) ` : ''}${name} · Holdpoint`;
    if ('setAppBadge' in navigator) {
      void navigator.setAppBadge(open ?? 0).catch(() => undefined);
    }
  }, [name, open]);
}
