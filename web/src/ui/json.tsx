import { cn } from '@/lib/cn';
import { AgentLine, AgentText } from './agent-text';

const DEEP = 6;
const ROW = 'grid sm:grid-cols-[minmax(5rem,9rem)_1fr]';

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

/** JSON from outside as rows of names and values: data, never markup. */
export function JsonTable({ value, depth = 0 }: { value: unknown; depth?: number }) {
  if (Array.isArray(value)) return <Rows rows={value.map((one, at) => [String(at + 1), one])} depth={depth} />;
  if (typeof value === 'object' && value !== null) return <Rows rows={Object.entries(value)} depth={depth} />;
  return <Leaf value={value} />;
}

function Rows({ rows, depth }: { rows: [string, unknown][]; depth: number }) {
  if (rows.length === 0) return <span className="text-muted">—</span>;
  if (depth >= DEEP) return <AgentText mono text={JSON.stringify(Object.fromEntries(rows), null, 2)} />;
  return (
    <dl className="divide-y">
      {rows.map(([name, one]) => (
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
  );
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === 'string') {
    return value === '' ? <span className="text-muted">""</span> : <AgentText mono text={value} />;
  }
  return <code className="text-sm">{String(value)}</code>;
}
