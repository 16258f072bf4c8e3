import { cva, type VariantProps } from 'class-variance-authority';
import type { ReactNode } from 'react';
import { cn } from '@/lib/cn';

const look = cva(
  'inline-flex items-center gap-1 whitespace-nowrap rounded-sm px-1.5 py-0.5 font-medium text-xs leading-4 [&_svg]:size-3',
  {
    variants: {
      tone: {
        plain: 'bg-hover text-muted',
        accent: 'bg-accent-soft text-accent-ink',
        danger: 'bg-danger-soft text-danger-ink',
        warn: 'bg-warn-soft text-warn-ink',
        good: 'bg-good-soft text-good-ink',
      },
    },
    defaultVariants: { tone: 'plain' },
  },
);

export type Tone = NonNullable<VariantProps<typeof look>['tone']>;

export function Badge({ tone, className, children }: { tone?: Tone; className?: string; children: ReactNode }) {
  return <span className={cn(look({ tone }), className)}>{children}</span>;
}
