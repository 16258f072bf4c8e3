import { useQueryClient } from '@tanstack/react-query';
import { CircleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { asProblem } from '@/api/problem';
import { detailOf } from '@/model/details';
import { AgentLine } from './agent-text';
import { Button } from './button';
import { Notice } from './page';

/** Error codes that need the server's detail text: the rule's reason, the invalid filter, the size limit. */
const PARTICULAR = ['action_denied', 'edit_denied', 'query_invalid', 'body_too_large'];

/** Error of the server: translated if the code is known, followed by the server's own text. */
export function ProblemNotice({ error, again }: { error: unknown; again?: () => void }) {
  const problem = asProblem(error);
  const words = useProblemWords(problem);
  const isOnlineAgain = useIsOnlineAgain(error, problem.code === 'offline');
  const { t } = useTranslation();
  return (
    <Notice
      tone={isOnlineAgain ? 'warn' : 'danger'}
      icon={CircleAlert}
      role="alert"
      title={isOnlineAgain ? t('problems.back_online') : words}
    >
      {PARTICULAR.includes(problem.code) ? (
        <p className="mt-1 text-sm">
          <AgentLine text={problem.message} />
        </p>
      ) : null}
      {problem.body.errors?.length ? (
        <ul className="mt-1 list-disc space-y-0.5 pl-4 text-sm">
          {problem.body.errors.map((one) => (
            <li key={`${one.pointer} ${one.message}`}>
              {one.pointer ? <code className="mr-1.5">{one.pointer}</code> : null}
              <AgentLine text={detailOf(t, one.message)} />
            </li>
          ))}
        </ul>
      ) : null}
      {again ? <AgainButton again={again} /> : null}
    </Notice>
  );
}

/** Whether the server has responded again since the `offline` error. */
function useIsOnlineAgain(error: unknown, offline: boolean): boolean {
  const cache = useQueryClient();
  const [pastError, setPastError] = useState<unknown>();
  useEffect(() => {
    if (!offline) return;
    return cache.getQueryCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'success' && !event.action.manual) setPastError(error);
    });
  }, [cache, error, offline]);
  return offline && pastError !== undefined && pastError === error;
}

function AgainButton({ again }: { again: () => void }) {
  const { t } = useTranslation();
  return (
    <Button size="sm" className="mt-2" onClick={again}>
      {t('common.again')}
    </Button>
  );
}

export function useProblemWords(error: unknown): string {
  const { t } = useTranslation();
  const problem = asProblem(error);
  return t(`problems.${problem.code}` as 'problems.offline', { defaultValue: problem.message });
}
