/** Sticks to the bottom of the screen; with many answers it scrolls, so that the question stays readable. */
export const DOCK =
  'sticky bottom-0 z-20 max-h-[40dvh] overflow-y-auto overscroll-contain -mx-4 border-t bg-page/95 px-4 py-3 backdrop-blur sm:-mx-8 sm:px-8 supports-[backdrop-filter]:bg-page/85';

/** Publishes its height, so that focused elements are not covered. */
export function overDock(dock: HTMLElement | null): (() => void) | undefined {
  const article = dock?.closest('article');
  if (!dock || !article) return undefined;
  const observer = new ResizeObserver(() => {
    article.style.setProperty('--dock', `${dock.offsetHeight}px`);
    uncover(article, dock);
  });
  observer.observe(dock);
  observer.observe(article);
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

/** Scrolls the focused element out from under the dock, where content that was drawn late may have moved it. */
function uncover(article: HTMLElement, dock: HTMLElement): void {
  const focused = document.activeElement;
  if (!focused || !article.contains(focused) || dock.contains(focused) || !focused.matches(':focus-visible')) return;
  const [own, above] = [focused.getBoundingClientRect(), dock.getBoundingClientRect()];
  if (own.bottom > above.top && own.top < above.bottom) focused.scrollIntoView({ block: 'nearest' });
}
