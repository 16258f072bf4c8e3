import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from './button';

/** Puts a value on the clipboard, and says so. */
export function CopyButton({ value }: { value: string }) {
  const { t } = useTranslation();
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(value);
    setDone(true);
  };
  return (
    <Button size="sm" tone="quiet" onClick={() => void copy()}>
      {done ? <Check aria-hidden="true" /> : <Copy aria-hidden="true" />}
      {done ? t('common.copied') : t('common.copy')}
    </Button>
  );
}

/** A value that somebody will want elsewhere, with a button that puts it on the clipboard. */
export function CopyBox({ value, label }: { value: string; label: string }) {
  return (
    <div className="flex items-center gap-2 rounded-md border bg-sunken py-1 pr-1 pl-3">
      <span className="sr-only">{label}</span>
      <code className="min-w-0 flex-1 select-all text-sm [overflow-wrap:anywhere]">{value}</code>
      <CopyButton value={value} />
    </div>
  );
}
