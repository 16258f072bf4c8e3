import { useTranslation } from 'react-i18next';
import { oneLine } from '@/lib/text';
import type { Line } from '@/model/subject';
import { AgentLine } from './agent-text';

/** A call in one truncated line, followed by the number of arguments left out. */
export function CallInLine({ line }: { line: Line }) {
  return (
    <div className="mt-0.5 flex items-baseline gap-2 text-muted text-sm">
      <code className="min-w-0 truncate">
        <AgentLine text={oneLine(line.text, 160)} />
      </code>
      <MoreArguments line={line} />
    </div>
  );
}

export function MoreArguments({ line }: { line: Line }) {
  const { t } = useTranslation();
  if (line.more === 0) return null;
  return <span className="shrink-0 text-warn-ink text-xs">{t('common.moreArguments', { count: line.more })}</span>;
}
