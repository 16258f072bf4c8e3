import { useRef, useState } from 'react';

/**
 * The selection after a click on an item: toggles the item, or the range from the item that was clicked before. The
 * whole range gets the new state of the clicked item.
 */
export function selecting(
  selected: ReadonlySet<string>,
  list: readonly string[],
  id: string,
  before?: string,
): ReadonlySet<string> {
  const [from, to] = [list.indexOf(before ?? ''), list.indexOf(id)].sort((a, b) => a - b) as [number, number];
  const changed = from < 0 ? [id] : list.slice(from, to + 1);
  const next = new Set(selected);
  for (const one of changed) {
    if (selected.has(id)) next.delete(one);
    else next.add(one);
  }
  return next;
}

/** Selected questions; `list` holds the selectable ones. */
export function useSelection(list: readonly string[]) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string>(undefined);
  return {
    selected,
    /** With `range`, toggles all items between this one and the last one. */
    toggle: (id: string, range = false) => {
      setSelected(selecting(selected, list, id, range ? last.current : undefined));
      last.current = id;
    },
    all: (on: boolean) => setSelected(new Set(on ? list : [])),
  };
}
