import { type RefObject, useEffect } from 'react';

/** Scrolls a part of an answer into view, with the buttons below it if both fit. */
export function show(part: Element): void {
  const panel = part.closest('fieldset');
  const whole = panel && panel.offsetHeight < innerHeight / 2 ? panel : part;
  whole.scrollIntoView({ block: 'nearest' });
}

/**
 * Keeps the focused element in view while a question that was opened with an answer begun is still being drawn, because
 * a diff that loads late would push it out. Stops when the person scrolls, types or clicks.
 */
export function useInSight(area: RefObject<HTMLElement | null>, wanted: boolean): void {
  useEffect(() => {
    const article = area.current?.closest('article');
    if (!wanted || !article) return;
    const observer = new ResizeObserver(() => {
      const now = document.activeElement;
      if (now && area.current?.contains(now)) show(now);
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
