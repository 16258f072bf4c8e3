import { CircleAlert, TriangleAlert } from 'lucide-react';
import type { Finding } from '@/api/types';
import { AgentLine } from '@/ui/agent-text';

/** Findings of a policy, each with its line and column. */
export function Findings({ findings }: { findings: Finding[] }) {
  return (
    <ul className="space-y-1.5 text-sm">
      {findings.map((finding) => (
        <li key={`${finding.line}:${finding.column}:${finding.code}`} className="flex items-start gap-2">
          {finding.severity === 'error' ? (
            <CircleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-danger" />
          ) : (
            <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-warn" />
          )}
          <span className="min-w-0">
            <code className="text-muted">
              {finding.line}:{finding.column}
            </code>{' '}
            <AgentLine text={finding.message} /> <code className="text-muted text-xs">{finding.code}</code>
          </span>
        </li>
      ))}
    </ul>
  );
}
