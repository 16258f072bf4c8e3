import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { cn } from '@/lib/cn';
import { Exact, showJson } from '@/lib/exact';
import { AgentLine, AgentText } from './agent-text';

const DEEP = 6;
const ROW = 'grid sm:grid-cols-[minmax(5rem,9rem)_1fr]';

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null || value instanceof Exact;
}

/** JSON from outside as rows of names and values: data, never markup. */
export function JsonTable({ value, depth = 0 }: { value: unknown; depth?: number }) {
  if (Array.isArray(value)) return <Rows rows={value.map((one, at) => [String(at + 1), one])} depth={depth} />;
  if (typeof value === 'object' && !isPlain(value))
    return <Rows rows={Object.entries(value as object)} depth={depth} />;
  return <Leaf value={value} />;
}

/** So many names or items stand open; of more, their true number is told. */
const MOST = 20;

function Rows({ rows, depth }: { rows: [string, unknown][]; depth: number }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  if (rows.length === 0) return <span className="text-muted">—</span>;
  if (depth >= DEEP) return <AgentText mono text={showJson(Object.fromEntries(rows))} />;
  return (
    <>
      <dl className="divide-y">
        {(open ? rows : rows.slice(0, MOST)).map(([name, one]) => (
          <div key={name} className={cn('gap-x-4 gap-y-0.5 py-1.5', depth === 0 || isPlain(one) ? ROW : 'block')}>
            <dt className="break-words text-muted text-sm">
              <AgentLine text={name} />
            </dt>
            <dd className={cn('min-w-0', !isPlain(one) && 'border-l pl-3')}>
              <JsonTable value={one} depth={depth + 1} />
            </dd>
          </div>
        ))}
      </dl>
      {rows.length > MOST ? (
        <button
          type="button"
          className="my-1.5 font-medium text-accent-ink text-sm underline-offset-2 hover:underline"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {open ? t('common.fold') : t('common.unfoldRows', { count: rows.length })}
        </button>
      ) : null}
    </>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === 'string') {
    return value === '' ? <span className="text-muted">""</span> : <AgentText mono text={value} />;
  }
  return <code className="text-sm">{String(value)}</code>;
}
