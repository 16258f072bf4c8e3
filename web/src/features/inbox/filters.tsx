import { useNavigate, useSearch } from '@tanstack/react-router';
import { Search, SlidersHorizontal } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { cn } from '@/lib/cn';
import { useShortcuts } from '@/lib/shortcuts';
import { Button } from '@/ui/button';
import { Input, Select } from '@/ui/field';
import { KINDS, useKindName } from '@/ui/kind';

const STATUSES = ['pending', 'answered', 'auto_resolved', 'expired', 'cancelled'] as const;
const SORTS = ['oldest', 'newest', 'deadline'] as const;

/** Filters of the list, kept in the address so that a view can be saved and shared. */
export function Filters() {
  const { t } = useTranslation();
  const search = useSearch({ from: '/inside/inbox' });
  const kindName = useKindName();
  const count = [search.status, search.kind, search.sort, search.agent, search.mine, search.overdue].filter(
    Boolean,
  ).length;
  const [open, setOpen] = useState(count > 0);
  const change = useChange();
  return (
    <div className="space-y-2.5 border-b px-3 pt-3 pb-3">
      <div className="flex gap-2">
        <SearchBox />
        <Button
          size="icon"
          aria-expanded={open}
          aria-label={count ? t('inbox.filtersOn', { count }) : t('inbox.filters')}
          className={cn(count > 0 && 'border-accent/50 text-accent-ink')}
          onClick={() => setOpen(!open)}
        >
          <SlidersHorizontal />
        </Button>
      </div>
      {open ? (
        <div className="appear grid grid-cols-2 gap-2">
          <Select
            aria-label={t('inbox.status')}
            value={search.status ?? 'pending'}
            onChange={(event) => change({ status: event.target.value === 'pending' ? undefined : event.target.value })}
          >
            {STATUSES.map((status) => (
              <option key={status} value={status}>
                {t(`status.${status}`)}
              </option>
            ))}
          </Select>
          <Select
            aria-label={t('inbox.kind')}
            value={search.kind ?? ''}
            onChange={(event) => change({ kind: event.target.value || undefined })}
          >
            <option value="">{t('inbox.everyKind')}</option>
            {KINDS.map((kind) => (
              <option key={kind} value={kind}>
                {kindName(kind)}
              </option>
            ))}
          </Select>
          <Select
            aria-label={t('inbox.sort')}
            value={search.sort ?? 'oldest'}
            onChange={(event) => change({ sort: event.target.value === 'oldest' ? undefined : event.target.value })}
          >
            {SORTS.map((sort) => (
              <option key={sort} value={sort}>
                {t(`inbox.sorts.${sort}`)}
              </option>
            ))}
          </Select>
          <DebouncedInput
            label={t('inbox.agent')}
            value={search.agent ?? ''}
            onChange={(agent) => change({ agent: agent || undefined })}
          />
          <label className="flex items-center gap-2 text-sm">
            <input
              type="checkbox"
              checked={search.mine ?? false}
              onChange={(event) => change({ mine: event.target.checked || undefined })}
            />
            {t('inbox.mine')}
          </label>
          <label className="flex items-center gap-2 text-sm">
            <input
              type="checkbox"
              checked={search.overdue ?? false}
              onChange={(event) => change({ overdue: event.target.checked || undefined })}
            />
            {t('inbox.onlyOverdue')}
          </label>
        </div>
      ) : null}
    </div>
  );
}

function SearchBox() {
  const { t } = useTranslation();
  const { q } = useSearch({ from: '/inside/inbox' });
  const box = useRef<HTMLInputElement>(null);
  const change = useChange();
  useShortcuts({ '/': () => box.current?.focus() });
  return (
    <div className="relative min-w-0 flex-1">
      <Search
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted"
      />
      <DebouncedInput
        box={box}
        label={t('inbox.search')}
        value={q ?? ''}
        onChange={(text) => change({ q: text || undefined })}
        className="pl-9!"
      />
    </div>
  );
}

interface DebouncedInputProps {
  box?: React.Ref<HTMLInputElement>;
  label: string;
  value: string;
  onChange: (value: string) => void;
  className?: string;
}

/** A text box that reports its value after a short pause in typing. */
function DebouncedInput({ box, label, value, onChange, className }: DebouncedInputProps) {
  const [text, setText] = useState(value);
  const say = useRef(onChange);
  say.current = onChange;
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => say.current(text), 250);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <Input
      ref={box}
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      className={className}
      onChange={(event) => setText(event.target.value)}
    />
  );
}

function useChange(): (change: Record<string, unknown>) => void {
  const navigate = useNavigate();
  return (change) => void navigate({ to: '.', search: (search) => ({ ...search, ...change }), replace: true });
}
