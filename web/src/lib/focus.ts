/** Position of an element that was removed. */
interface Gap {
  parent: Node;
  next: Node | null;
  previous: Node | null;
}

const gaps = new WeakMap<Node, Gap>();
const buttons = new WeakMap<Element, Element>();
const PARTS = 'li, tr, article, section, fieldset, form, [role=dialog], main';
let held: Element | null = null;
let stopped = false;
let byKey = false;

/** The focused element, or the last one if it was removed or disabled. */
export function holder(): Element | null {
  const now = document.activeElement;
  return now && now !== document.body ? now : held;
}

/** Remembers the button of a menu; the focus returns to it when the menu closes. */
export function setMenuButton(menu: Element, button: Element): void {
  buttons.set(menu, button);
}

/** Returns the focus to an element, or to the nearest remaining one. */
export function restoreFocus(element: Element | null): void {
  if (!element) return;
  const menu = element.closest('[role=menu]');
  const wanted = (menu && buttons.get(menu)) ?? element;
  const target = usable(wanted) ? wanted : nearest(wanted);
  if (!(target instanceof HTMLElement)) return;
  if (target.tabIndex < 0 && !target.hasAttribute('tabindex')) {
    target.tabIndex = -1;
    target.addEventListener('blur', () => target.removeAttribute('tabindex'), { once: true });
  }
  // Pointer users do not need the focus moved.
  target.focus({ preventScroll: !byKey });
}

/**
 * Keeps the focus on the page while the page is open. A browser drops the focus when the focused element is removed or
 * disabled, and keyboard users would have to start again at the top.
 */
export function keepFocus(): void {
  let looking = false;
  const look = () => {
    if (looking) return;
    looking = true;
    // Waits two frames: a redrawn element may take the focus itself, and a browser drops the focus of a disabled
    // element only after drawing it.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        looking = false;
        if (document.activeElement === document.body && held) handleLostFocus(held);
      }),
    );
  };
  new MutationObserver((changes) => {
    for (const { removedNodes, target, nextSibling, previousSibling } of changes)
      for (const node of removedNodes) gaps.set(node, { parent: target, next: nextSibling, previous: previousSibling });
    // The element may be enabled again before the next frame.
    if (held?.matches(':disabled')) stopped = true;
    look();
  }).observe(document.body, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['disabled', 'hidden', 'class', 'open'],
  });
  addEventListener('focusin', ({ target }) => {
    if (!(target instanceof Element)) return;
    held = target;
    stopped = false;
  });
  addEventListener('focusout', look);
  addEventListener('keydown', () => (byKey = true), true);
  addEventListener(
    'pointerdown',
    () => {
      byKey = false;
      if (document.activeElement === document.body) held = null;
    },
    true,
  );
  for (const moved of ['wheel', 'touchmove'])
    addEventListener(moved, () => (byKey = false), { capture: true, passive: true });
}

function handleLostFocus(lost: Element): void {
  if (usable(lost)) {
    if (stopped) restoreFocus(lost);
    // The element still exists, so the person has moved the focus away.
    else held = null;
  } else if (lost.isConnected && lost.checkVisibility()) stopped = true;
  else restoreFocus(lost);
}

function usable(element: Element): boolean {
  return element.isConnected && element.checkVisibility() && !element.matches(':disabled');
}

/**
 * The next row if a row was removed, otherwise the heading of the smallest remaining part of the page around the lost
 * element.
 */
function nearest(lost: Element): Element | null {
  let place: Node | null = lost;
  while (place && !place.isConnected) {
    while (place.parentNode) place = place.parentNode;
    const gap = gaps.get(place);
    const row = gap && beside(place, gap);
    if (row) return row.querySelector('a[href]') ?? row;
    place = gap?.parent ?? null;
  }
  for (let part = place as Element | null; part; part = part.parentElement) {
    if (!part.matches(PARTS) || !part.checkVisibility()) continue;
    if (part.matches('li, tr')) return part;
    return headingIn(part) ?? part;
  }
  const main = document.querySelector('main');
  return main && (headingIn(main) ?? main);
}

function headingIn(part: Element): Element | undefined {
  return [...part.querySelectorAll('h1, h2, h3, h4')].find((heading) => heading.checkVisibility());
}

function beside(gone: Node, gap: Gap): Element | undefined {
  if (!(gone instanceof Element) || !gone.matches('li, tr')) return undefined;
  for (const way of ['next', 'previous'] as const) {
    let node: Node | null = gap[way];
    while (node && !node.isConnected) node = gaps.get(node)?.[way] ?? null;
    if (node instanceof Element && node.matches('li, tr') && node.checkVisibility()) return node;
  }
  return undefined;
}
