import { type ReactNode, Suspense, useRef, useState } from 'react';
import { cn } from '@/lib/cn';
import type { MenuProps } from './menu';

interface Props {
  label?: string;
  className?: string;
  here?: boolean;
  disabled?: boolean;
  /** Draws the opened menu. Its code may be loaded only then. */
  menu: (props: MenuProps) => ReactNode;
  children: ReactNode;
}

/** A button that opens a menu. */
export function MenuButton({ label, className, here, disabled, menu, children }: Props) {
  const [open, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  return (
    <span className={cn('relative flex', here !== undefined && 'flex-1')}>
      <button
        ref={opener}
        type="button"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        data-here={here}
        disabled={disabled}
        className={className}
        onClick={() => setOpen(!open)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {children}
      </button>
      {open ? <Suspense>{menu({ opener, onClose: () => setOpen(false) })}</Suspense> : null}
    </span>
  );
}
