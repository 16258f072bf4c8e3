import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { interactionQuery, sessionQuery } from '@/api/queries';
import type { Grant } from '@/api/types';
import { sessionName } from '@/model/labels';
import { approvedCall, callLine } from '@/model/subject';
import { AgentLine } from '@/ui/agent-text';
import { CallInLine } from '@/ui/call';
import { JsonTable } from '@/ui/json';

/** The calls that a grant allows: the approved call, and the arguments that may differ. */
export function Allowed({ grant }: { grant: Grant }) {
  const { t } = useTranslation();
  const bound = grant.covers !== 'any';
  const { data: question, error } = useQuery({
    ...interactionQuery(grant.interaction),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: bound,
  });
  const call = question && approvedCall(question);
  const line = callLine(call);
  return (
    <>
      {bound && line ? <CallInLine line={line} /> : null}
      {bound && error ? <p className="text-sm text-warn-ink">{t('grants.unread')}</p> : null}
      {grant.patterns ? <Patterns patterns={grant.patterns} /> : null}
      {bound && call ? (
        <details>
          <summary className="text-muted text-sm">
            {t(grant.patterns ? 'grants.approvedArguments' : 'grants.allArguments')}
          </summary>
          <div className="mt-1 rounded-md border bg-sunken px-3 py-1">
            <JsonTable value={call.arguments} />
          </div>
        </details>
      ) : null}
    </>
  );
}

function Patterns({ patterns }: { patterns: Record<string, string> }) {
  const { t } = useTranslation();
  return (
    <p className="text-sm">
      {Object.entries(patterns).map(([name, pattern]) => (
        <span key={name} className="mr-3">
          <code className="[overflow-wrap:anywhere]">
            <AgentLine text={name} />
          </code>{' '}
          <span className="text-muted">{t('grants.fits')}</span>{' '}
          <code className="font-medium [overflow-wrap:anywhere]">
            <AgentLine text={pattern} />
          </code>
        </span>
      ))}
      <span className="text-muted">{t('grants.others')}</span>
    </p>
  );
}

/** Scope of a grant: one session, by name, or the whole project. */
export function Where({ session }: { session?: string | null }) {
  const { t } = useTranslation();
  const { data } = useQuery({ ...sessionQuery(session ?? ''), enabled: Boolean(session) });
  if (!session) return t('remember.wordsWhere.project');
  return (
    <>
      {t('grants.onlyIn')}{' '}
      <Link to="/sessions/$session" params={{ session }} className="text-accent-ink underline-offset-2 hover:underline">
        <AgentLine text={data ? sessionName(t, data) : session} />
      </Link>
    </>
  );
}
