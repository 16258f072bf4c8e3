import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { statsQuery } from '@/api/queries';

const DAY = 86_400;

/** Number of open questions. */
export function useOpenCount(): number | undefined {
  const { data } = useQuery(statsQuery(DAY));
  return data ? Object.values(data.open).reduce((sum, count) => sum + count, 0) : undefined;
}

/** Sets the tab title to the page name and the open count, and the badge of the installed app to the count. */
export function useTitle(name: string | undefined): void {
  const open = useOpenCount();
  useEffect(() => {
    if (name !== undefined) document.title = `${open ? `(${open}) ` : ''}${name} · Holdpoint`;
    if ('setAppBadge' in navigator) {
      void navigator.setAppBadge(open ?? 0).catch(() => undefined);
    }
  }, [name, open]);
}
