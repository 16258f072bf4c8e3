import { cn } from '@/lib/cn';
import { Exact, showJson } from '@/lib/exact';
import { AgentText } from './agent-text';
import { useCapped } from './capped';

const DEEP = 6;
const ROW = 'grid sm:grid-cols-[minmax(5rem,9rem)_1fr]';

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null || value instanceof Exact;
}

/** JSON from outside as rows of names and values: data, never markup. */
export function JsonTable({ value, depth = 0 }: { value: unknown; depth?: number }) {
  if (isPlain(value)) return <PlainValue value={value} />;
  const list = Array.isArray(value);
  const rows = Object.entries(value as object);
  if (rows.length === 0) return <code className="text-muted text-sm">{list ? '[]' : '{}'}</code>;
  if (depth >= DEEP) return <AgentText mono text={showJson(value)} />;
  return <Rows rows={list ? rows.map(([at, one]) => [String(Number(at) + 1), one]) : rows} depth={depth} />;
}

function Rows({ rows, depth }: { rows: [string, unknown][]; depth: number }) {
  const { shown, more } = useCapped(rows);
  return (
    <>
      <dl className="divide-y">
        {shown.map(([name, one]) => (
          <div key={name} className={cn('gap-x-4 gap-y-0.5 py-1.5', depth === 0 || isPlain(one) ? ROW : 'block')}>
            <dt className="min-w-0 text-muted text-sm">
              <AgentText text={name} characters={160} lines={3} />
            </dt>
            <dd className={cn('min-w-0', !isPlain(one) && 'border-l pl-3')}>
              <JsonTable value={one} depth={depth + 1} />
            </dd>
          </div>
        ))}
      </dl>
      {more}
    </>
  );
}

function PlainValue({ value }: { value: unknown }) {
  if (value === '') return <span className="text-muted">""</span>;
  if (typeof value === 'string') return <AgentText mono text={isMistaken(value) ? showJson(value) : value} />;
  return <code className="text-sm">{String(value)}</code>;
}

// Quotes a text that looks like another JSON value or is already quoted.
const MISTAKEN = /^\s*(?:true|false|null|-?\d[\d.eE+-]*|\[\s*\]|\{\s*\}|".*")\s*$/su;

function isMistaken(text: string): boolean {
  return MISTAKEN.test(text);
}
