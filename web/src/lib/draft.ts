import { type Dispatch, type SetStateAction, useCallback, useEffect, useState } from 'react';
import { readJson, writeJson } from './exact';

const PREFIX = 'draft ';

interface NamedDraft<T> {
  name: string | undefined;
  draft: T;
}

/**
 * Unfinished input. A draft survives navigation and a reload of its tab and ends with the tab; closing the tab asks for
 * confirmation first. A draft without a name is kept in memory only, which is for secrets. A draft is never shown under
 * another name.
 */
export function useDraft<T>(name: string | undefined, first: T): [T, Dispatch<SetStateAction<T>>, () => void] {
  const [kept, setKept] = useState<NamedDraft<T>>(() => begun(name, first));
  const now = kept.name === name ? kept : begun(name, first);
  if (now !== kept) setKept(now);
  const { draft } = now;
  const some = writeJson(draft) !== writeJson(first);
  useEffect(() => {
    if (name !== undefined) keep(name, some ? draft : undefined);
  }, [name, draft, some]);
  useEffect(() => {
    if (!some) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [some]);
  const setDraft = useCallback(
    (next: SetStateAction<T>) =>
      setKept((was) => {
        if (was.name !== name) return was;
        return { name, draft: typeof next === 'function' ? (next as (was: T) => T)(was.draft) : next };
      }),
    [name],
  );
  // Also if the component is being unmounted and gets no update.
  const forget = useCallback(() => {
    if (name !== undefined) keep(name, undefined);
    setDraft(first);
  }, [name, first, setDraft]);
  return [draft, setDraft, forget];
}

function begun<T>(name: string | undefined, first: T): NamedDraft<T> {
  return { name, draft: (name === undefined ? undefined : read<T>(name)) ?? first };
}

/** Deletes all drafts at sign-out. */
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

// If the browser's storage is full or not allowed, the draft lasts only as long as its component.
function keep(name: string, value: unknown): void {
  try {
    if (value === undefined) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, writeJson(value));
  } catch {
    // The draft stays in memory; see above.
  }
}
