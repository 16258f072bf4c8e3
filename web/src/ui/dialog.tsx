import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { cn } from '@/lib/cn';
import { holder, restoreFocus } from '@/lib/focus';
import { Button } from './button';

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  about?: ReactNode;
  wide?: boolean;
  /** Shows a value that is never shown again, so a click outside does not close the dialog. */
  once?: boolean;
  children: ReactNode;
  footer?: ReactNode;
}

export function Dialog({ open, onOpenChange, ...frame }: Props) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Frame {...frame} />
      </Radix.Portal>
    </Radix.Root>
  );
}

const FIELD = ':is(input, textarea, select):not(:disabled), [contenteditable=true]';

/** Focuses the first field when opened, and returns the focus when closed. */
function Frame({ title, about, wide, once, children, footer }: Omit<Props, 'open' | 'onOpenChange'>) {
  const { t } = useTranslation();
  const [opener] = useState(holder);
  const inner = useRef<HTMLDivElement>(null);
  return (
    <Radix.Content
      aria-describedby={about ? undefined : ''}
      onInteractOutside={(event) => {
        if (once) event.preventDefault();
      }}
      onOpenAutoFocus={(event) => {
        const field = inner.current?.querySelector<HTMLElement>(FIELD);
        if (!field) return;
        event.preventDefault();
        field.focus();
      }}
      onCloseAutoFocus={(event) => {
        event.preventDefault();
        restoreFocus(opener);
      }}
      className={cn(
        'appear fixed z-50 flex max-h-[88dvh] flex-col rounded-xl border bg-surface shadow-float max-sm:inset-x-0 max-sm:bottom-0 max-sm:rounded-b-none sm:top-[12vh] sm:left-1/2 sm:max-h-[76dvh] sm:-translate-x-1/2',
        wide ? 'sm:w-[min(52rem,92vw)]' : 'sm:w-[min(32rem,92vw)]',
      )}
    >
      <header className="flex items-start gap-3 px-5 pt-4 pb-3">
        <div className="min-w-0 flex-1">
          <Radix.Title className="font-semibold text-lg">{title}</Radix.Title>
          {about ? <Radix.Description className="mt-0.5 text-muted text-sm">{about}</Radix.Description> : null}
        </div>
        <Radix.Close asChild>
          <Button tone="quiet" size="icon" className="-mt-1.5 -mr-2" aria-label={t('common.close')}>
            <X />
          </Button>
        </Radix.Close>
      </header>
      <div ref={inner} className="min-h-0 flex-1 overflow-y-auto px-5 pb-4">
        {children}
      </div>
      {footer ? <footer className="flex flex-wrap justify-end gap-2 border-t px-5 py-3">{footer}</footer> : null}
    </Radix.Content>
  );
}
