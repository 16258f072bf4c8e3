import { useQuery } from '@tanstack/react-query';
import { Check, TriangleAlert, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { Problem } from '@/api/problem';
import { interactionQuery } from '@/api/queries';
import type { BatchResult, Interaction, Resolution } from '@/api/types';
import type { Move } from '@/model/moves';
import { AgentLine } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { useEnding } from '@/ui/ending';
import { useProblemWords } from '@/ui/problem';

interface Props {
  question: Interaction;
  /** Reason why the question is left out. */
  left?: 'alone' | 'dangerous' | 'barred';
  /** Answer that is sent, where the question is not left out. */
  move?: Move;
  result?: BatchResult;
}

/** Result of one answer of a batch, or the reason why it is left out. */
export function Result({ question, left, move, result }: Props) {
  const { t } = useTranslation();
  if (left === 'dangerous')
    return (
      <Badge tone="danger" className="whitespace-normal!">
        <TriangleAlert aria-hidden="true" />
        {t('batch.dangerous')}
      </Badge>
    );
  if (left) return <Badge tone="warn">{t(`batch.${left}`)}</Badge>;
  if (!result) return null;
  if (result.problem) return <Refused question={question} status={result.status} problem={result.problem} />;
  return (
    <Badge tone="good">
      <Check aria-hidden="true" />
      {t(`effects.${move?.effect ?? 'provide'}`)}
    </Badge>
  );
}

type RefusedProps = Pick<Props, 'question'> & { status: number; problem: NonNullable<BatchResult['problem']> };

function Refused({ question, status, problem }: RefusedProps) {
  const words = useProblemWords(new Problem(status, problem));
  const { data: now } = useQuery({ ...interactionQuery(question.id), staleTime: 0 });
  return (
    <div className="flex flex-col items-end gap-1 text-sm">
      <Badge tone="danger" className="whitespace-normal!">
        <X aria-hidden="true" />
        {words}
      </Badge>
      {now?.resolution ? <First question={now} resolution={now.resolution} /> : null}
    </div>
  );
}

/** The answer that was accepted first. */
function First({ question, resolution }: { question: Interaction; resolution: Resolution }) {
  const { words } = useEnding(question, resolution);
  return <AgentLine text={words} />;
}
