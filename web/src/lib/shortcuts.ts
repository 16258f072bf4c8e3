import { useEffect, useRef } from 'react';

/** Whether a key press belongs to the focused control or to an open dialog. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return true;
  const target = event.target;
  if (!(target instanceof Element)) return false;
  if (target.closest('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]')) return true;
  return document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null;
}

/** The intended key: ignores Caps Lock, and maps keys of non-Latin layouts to the Latin letter at that position. */
export function keyOf({ key, code, shiftKey }: Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey'>): string {
  if (/^[A-Z]$/u.test(key)) return shiftKey ? key : key.toLowerCase();
  const place = /^Key([A-Z])$/u.exec(code)?.[1];
  return place && !shiftKey && /^[^a-z]$/u.test(key) && /\p{L}/u.test(key) ? place.toLowerCase() : key;
}

/** Handles single-key shortcuts while a component is mounted and `forIt` returns true. */
export function useShortcuts(keys: Record<string, () => void>, forIt: () => boolean = () => true): void {
  const latest = useRef({ keys, forIt });
  latest.current = { keys, forIt };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { keys, forIt } = latest.current;
      const key = keyOf(event);
      const action = Object.hasOwn(keys, key) ? keys[key] : undefined;
      if (!action || isTyping(event) || !forIt()) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
