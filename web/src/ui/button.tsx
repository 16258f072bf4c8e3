import { cva, type VariantProps } from 'class-variance-authority';
import type { ButtonHTMLAttributes, Ref } from 'react';
import { cn } from '@/lib/cn';

// On a phone a long text takes two lines; Russian ones can be wider than the screen.
const look = cva(
  'inline-flex select-none items-center justify-center gap-2 rounded-md border text-center font-medium transition-colors sm:whitespace-nowrap disabled:cursor-not-allowed disabled:opacity-55 aria-disabled:cursor-progress aria-disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0',
  {
    variants: {
      tone: {
        plain: 'border-line bg-surface text-ink shadow-card hover:bg-hover',
        accent: 'border-transparent bg-accent text-on-accent shadow-card hover:bg-accent-strong',
        danger: 'border-danger/45 bg-surface text-danger-ink shadow-card hover:bg-danger-soft',
        solidDanger: 'border-transparent bg-danger text-on-danger shadow-card hover:opacity-90',
        quiet: 'border-transparent bg-transparent text-muted hover:bg-hover hover:text-ink',
      },
      size: {
        md: 'min-h-9 px-3.5 py-1 text-base max-sm:min-h-11',
        sm: 'min-h-8 px-2.5 py-1 text-sm max-sm:min-h-10',
        icon: 'size-9 max-sm:size-11',
      },
    },
    defaultVariants: { tone: 'plain', size: 'md' },
  },
);

interface Props extends ButtonHTMLAttributes<HTMLButtonElement>, VariantProps<typeof look> {
  ref?: Ref<HTMLButtonElement>;
  busy?: boolean;
}

export function Button({ tone, size, busy, className, type = 'button', disabled, onClick, children, ...rest }: Props) {
  return (
    <button
      type={type}
      className={cn(look({ tone, size }), className)}
      aria-busy={busy || undefined}
      // A busy button ignores clicks but keeps the focus; a disabled button would lose it.
      aria-disabled={busy || undefined}
      disabled={disabled && !busy}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      {...rest}
    >
      {busy ? <Spinner /> : null}
      {children}
    </button>
  );
}

export const buttonLook = look;

function Spinner() {
  return (
    <span
      aria-hidden="true"
      className="size-4 animate-spin rounded-full border-2 border-current border-t-transparent opacity-70"
    />
  );
}
