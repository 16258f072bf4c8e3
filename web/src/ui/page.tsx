import type { LucideIcon } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { cn } from '@/lib/cn';

interface PageProps {
  back?: ReactNode;
  title: ReactNode;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  narrow?: boolean;
}

/** Frame of every page except the inbox: heading, description and actions. */
export function Page({ back, title, about, actions, children, narrow }: PageProps) {
  return (
    <div className={cn('mx-auto w-full px-4 py-6 sm:px-8 sm:py-8', narrow ? 'max-w-3xl' : 'max-w-6xl')}>
      {back ? <div className="mb-3">{back}</div> : null}
      <header className="mb-6 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <h1 className="font-semibold text-2xl tracking-tight">{title}</h1>
          {about ? <p className="mt-1 max-w-2xl text-muted">{about}</p> : null}
        </div>
        {actions ? <div className="flex flex-wrap items-center gap-2">{actions}</div> : null}
      </header>
      {children}
    </div>
  );
}

export function Card({ className, children }: { className?: string; children: ReactNode }) {
  return <div className={cn('rounded-lg border bg-surface shadow-card', className)}>{children}</div>;
}

interface SectionProps {
  level?: 2 | 3;
  title: ReactNode;
  aside?: ReactNode;
  className?: string;
  children: ReactNode;
}

/** Section of a page with a heading. */
export function Section({ level = 2, title, aside, className, children }: SectionProps) {
  const Heading = `h${level}` as const;
  const id = useId();
  return (
    <section aria-labelledby={id} className={className}>
      <div className="mb-2 flex items-baseline justify-between gap-3">
        <Heading id={id} className="font-semibold text-muted text-sm">
          {title}
        </Heading>
        {aside}
      </div>
      {children}
    </section>
  );
}

interface EmptyProps {
  /** Use level 1 if nothing else on the page has a heading. */
  level?: 1 | 2;
  icon: LucideIcon;
  title: ReactNode;
  children?: ReactNode;
  className?: string;
}

/** Empty state: the reason, and what to do next. */
export function Empty({ level = 2, icon: Icon, title, children, className }: EmptyProps) {
  const Heading = `h${level}` as const;
  return (
    <div className={cn('mx-auto flex w-full min-w-0 max-w-lg flex-col items-center px-6 py-14 text-center', className)}>
      <span className="mb-4 grid size-12 shrink-0 place-items-center rounded-full bg-accent-soft text-accent-ink">
        <Icon aria-hidden="true" className="size-6" strokeWidth={1.6} />
      </span>
      <Heading className="font-semibold text-lg">{title}</Heading>
      {children ? <div className="mt-2 w-full space-y-3 text-muted">{children}</div> : null}
    </div>
  );
}

/** Placeholder rows during the first load. */
export function Waiting({ rows = 4, label }: { rows?: number; label: string }) {
  return (
    <div role="status" aria-label={label} className="space-y-3 p-4">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows that never move
        <div key={row} className="h-4 animate-pulse rounded bg-hover" data-row={row} />
      ))}
    </div>
  );
}

interface NoticeProps {
  tone?: 'plain' | 'danger' | 'warn' | 'good';
  icon?: LucideIcon;
  title?: ReactNode;
  role?: 'alert' | 'status';
  className?: string;
  children?: ReactNode;
}

const TONES = {
  plain: 'bg-sunken text-ink border-line',
  danger: 'bg-danger-soft text-danger-ink border-danger/30',
  warn: 'bg-warn-soft text-warn-ink border-warn/30',
  good: 'bg-good-soft text-good-ink border-good/30',
};

/** A notice in the page. */
export function Notice({ tone = 'plain', icon: Icon, title, role, className, children }: NoticeProps) {
  return (
    <div role={role} className={cn('flex gap-3 rounded-lg border px-4 py-3', TONES[tone], className)}>
      {Icon ? <Icon aria-hidden="true" className="mt-0.5 size-4 shrink-0" /> : null}
      <div className="min-w-0 flex-1">
        {title ? <div className="font-medium">{title}</div> : null}
        {children}
      </div>
    </div>
  );
}
