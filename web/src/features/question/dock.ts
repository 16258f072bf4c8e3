/** Stays in sight at the bottom, under a question of any length; with many answers it scrolls in itself, so that the question can be read. */
export const DOCK =
  'sticky bottom-0 z-20 max-h-[40dvh] overflow-y-auto overscroll-contain -mx-4 border-t bg-page/95 px-4 py-3 backdrop-blur sm:-mx-8 sm:px-8 supports-[backdrop-filter]:bg-page/85';

/** Tells the question above it how high it is, so that nothing that has the focus is behind it. */
export function overDock(dock: HTMLElement | null): (() => void) | undefined {
  const article = dock?.closest('article');
  if (!dock || !article) return undefined;
  const observer = new ResizeObserver(() => article.style.setProperty('--dock', `${dock.offsetHeight}px`));
  observer.observe(dock);
  // In a field of many lines a browser looks only after the caret.
  const raise = ({ target }: FocusEvent) => {
    if (target instanceof HTMLTextAreaElement) target.scrollIntoView({ block: 'nearest' });
  };
  article.addEventListener('focusin', raise);
  return () => {
    observer.disconnect();
    article.removeEventListener('focusin', raise);
    article.style.removeProperty('--dock');
  };
}
