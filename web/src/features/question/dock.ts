/** Sticks to the bottom of the screen; with many answers it scrolls, so that the question stays readable. */
export const DOCK =
  'sticky bottom-0 z-20 max-h-[40dvh] overflow-y-auto overscroll-contain -mx-4 border-t bg-page/95 px-4 py-3 backdrop-blur sm:-mx-8 sm:px-8 supports-[backdrop-filter]:bg-page/85';

/** Publishes its height, so that focused elements are not covered. */
export function overDock(dock: HTMLElement | null): (() => void) | undefined {
  const article = dock?.closest('article');
  if (!dock || !article) return undefined;
  const observer = new ResizeObserver(() => article.style.setProperty('--dock', `${dock.offsetHeight}px`));
  observer.observe(dock);
  // Browsers keep only the caret of a multi-line field in view.
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
