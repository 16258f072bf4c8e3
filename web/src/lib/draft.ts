import { type Dispatch, type SetStateAction, useCallback, useEffect, useState } from 'react';
import { readJson, writeJson } from './exact';

const PREFIX = 'draft ';

/**
 * Something half written. It outlives going elsewhere in this tab and reading the page anew, and ends with the tab, so whoever
 * closes it meanwhile is asked first. Without a name it is kept in memory alone: that is for secrets.
 */
export function useDraft<T>(name: string | undefined, first: T): [T, Dispatch<SetStateAction<T>>, () => void] {
  const [draft, setDraft] = useState<T>(() => (name === undefined ? undefined : read<T>(name)) ?? first);
  const begun = writeJson(draft) !== writeJson(first);
  useEffect(() => {
    if (name !== undefined) keep(name, begun ? draft : undefined);
  }, [name, draft, begun]);
  useEffect(() => {
    if (!begun) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [begun]);
  // Also where what has shown it is on its way out, and will hear of no change.
  const forget = useCallback(() => {
    if (name !== undefined) keep(name, undefined);
    setDraft(first);
  }, [name, first]);
  return [draft, setDraft, forget];
}

/** Whoever signs out leaves nothing half written to the next. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
}

function read<T>(name: string): T | undefined {
  try {
    const text = sessionStorage.getItem(PREFIX + name);
    return text === null ? undefined : (readJson(text) as T);
  } catch {
    return undefined;
  }
}

// A browser may have no room, or none to give to this page: then it is kept for as long as it is shown.
function keep(name: string, value: unknown): void {
  try {
    if (value === undefined) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, writeJson(value));
  } catch {
    // See above.
  }
}
