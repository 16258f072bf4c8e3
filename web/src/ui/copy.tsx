import { Check, Copy, TextSelect } from 'lucide-react';
import { type RefObject, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from './button';

const ICONS = { copy: Copy, copied: Check, copyYourself: TextSelect };

interface Props {
  value: string;
  /** The element with the value; it is selected if the clipboard is not available. */
  shown: RefObject<HTMLElement | null>;
}

/** Copies a value to the clipboard and confirms it. */
export function CopyButton({ value, shown }: Props) {
  const { t } = useTranslation();
  const [state, setState] = useState<keyof typeof ICONS>('copy');
  const Icon = ICONS[state];
  const copy = async () => {
    try {
      // The clipboard needs HTTPS, and a browser may refuse it.
      await navigator.clipboard.writeText(value);
      setState('copied');
    } catch {
      if (shown.current) getSelection()?.selectAllChildren(shown.current);
      setState('copyYourself');
    }
  };
  return (
    <Button size="sm" tone="quiet" onClick={() => void copy()}>
      <Icon aria-hidden="true" />
      <span aria-live="polite">{t(`common.${state}`)}</span>
    </Button>
  );
}

/** A value with a button that copies it. */
export function CopyBox({ value, label }: { value: string; label: string }) {
  const shown = useRef<HTMLElement>(null);
  return (
    <div className="flex flex-wrap items-center justify-end gap-2 rounded-md border bg-sunken py-1 pr-1 pl-3">
      <span className="sr-only">{label}</span>
      <code ref={shown} className="min-w-0 flex-1 basis-48 select-all text-sm [overflow-wrap:anywhere]">
        {value}
      </code>
      <CopyButton value={value} shown={shown} />
    </div>
  );
}
