import type { ReactNode } from 'react';
import { cn } from '@/lib/cn';

interface Props<T extends string> {
  label: string;
  value: T;
  tabs: readonly (readonly [T, ReactNode])[];
  onChange: (value: T) => void;
}

/** Tabs with their own addresses: links, one of them current. */
export function PageTabs<T extends string>({ label, value, tabs, onChange }: Props<T>) {
  return (
    <nav aria-label={label} className="mb-5 flex flex-wrap gap-x-5 border-b">
      {tabs.map(([name, text]) => (
        <button
          key={name}
          type="button"
          aria-current={name === value ? 'page' : undefined}
          onClick={() => onChange(name)}
          className={cn(
            '-mb-px whitespace-nowrap border-b-2 px-0.5 py-2 font-medium -outline-offset-2',
            name === value ? 'border-accent text-ink' : 'border-transparent text-muted hover:text-ink',
          )}
        >
          {text}
        </button>
      ))}
    </nav>
  );
}
