import { useRef, useState } from 'react';

/** What is selected after one of a list was clicked: it, or with the one that was clicked before all between, as it is then. */
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
    /** `range`: with all between this one and the one before. */
    toggle: (id: string, range = false) => {
      setSelected(selecting(selected, list, id, range ? last.current : undefined));
      last.current = id;
    },
    all: (on: boolean) => setSelected(new Set(on ? list : [])),
  };
}
