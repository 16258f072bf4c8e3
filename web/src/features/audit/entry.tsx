import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { AuditEntry } from '@/api/types';
import { moment, shortMoment } from '@/lib/time';
import { AgentLine } from '@/ui/agent-text';
import { JsonTable } from '@/ui/json';

/** One audit entry; its details unfold. */
export function Entry({ entry }: { entry: AuditEntry }) {
  const { t, i18n } = useTranslation();
  const link = 'text-accent-ink underline-offset-2 hover:underline';
  return (
    <li>
      <details className="group">
        <summary className="flex list-none flex-wrap items-baseline gap-x-4 gap-y-0.5 px-4 py-2.5 hover:bg-hover">
          <span className="w-12 text-right text-muted text-sm tabular-nums">{entry.seq}</span>
          <code className="font-medium">{entry.type}</code>
          <span className="min-w-0 flex-1 basis-28">
            <AgentLine text={entry.by.name} />
          </span>
          <time dateTime={entry.at} title={moment(entry.at, i18n.language)} className="text-muted text-sm tabular-nums">
            {shortMoment(entry.at, i18n.language)}
          </time>
        </summary>
        <div className="space-y-2 border-t bg-sunken px-4 py-3">
          <div className="flex flex-wrap gap-x-5 gap-y-1 text-sm">
            {entry.interaction ? (
              <Link to="/inbox/$interaction" params={{ interaction: entry.interaction }} className={link}>
                {t('question.label')}
              </Link>
            ) : null}
            {entry.session ? (
              <Link to="/sessions/$session" params={{ session: entry.session }} className={link}>
                {t('why.session')}
              </Link>
            ) : null}
            <span className="text-muted">
              {t('audit.how', { wire: entry.how.wire, from: entry.how.from ?? '–', key: entry.how.key ?? '–' })}
            </span>
          </div>
          <JsonTable value={entry.data} />
          <p className="text-muted text-xs">
            {t('audit.hash')} <code className="[overflow-wrap:anywhere]">{entry.hash}</code>
          </p>
        </div>
      </details>
    </li>
  );
}
