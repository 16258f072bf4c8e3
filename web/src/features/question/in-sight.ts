import { type RefObject, useEffect } from 'react';

/**
 * Keeps what has the focus in sight while a question that was opened with an answer begun is still being drawn: a diff that
 * comes late would push it out. Whoever scrolls, types or clicks has taken over.
 */
export function useInSight(area: RefObject<HTMLElement | null>, wanted: boolean): void {
  useEffect(() => {
    const article = area.current?.closest('article');
    if (!wanted || !article) return;
    const observer = new ResizeObserver(() => {
      const now = document.activeElement;
      if (now && area.current?.contains(now)) now.scrollIntoView({ block: 'nearest' });
    });
    observer.observe(article);
    const over = new AbortController();
    const stop = () => {
      observer.disconnect();
      over.abort();
    };
    for (const name of ['wheel', 'touchstart', 'pointerdown', 'keydown'])
      addEventListener(name, stop, { signal: over.signal, passive: true });
    return stop;
  }, [area, wanted]);
}
