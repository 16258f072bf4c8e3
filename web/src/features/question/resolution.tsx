import { useTranslation } from 'react-i18next';
import type { Interaction, Resolution } from '@/api/types';
import { reasonOf } from '@/model/labels';
import { AgentLine, AgentText } from '@/ui/agent-text';
import { useEnding } from '@/ui/ending';
import { JsonTable } from '@/ui/json';
import { Notice } from '@/ui/page';
import { Ago } from '@/ui/time';

/** Result of a question, with its author and time, and the progress of its delivery to the agent. */
export function Ended({ question }: { question: Interaction }) {
  return question.resolution ? <Ending question={question} resolution={question.resolution} /> : null;
}

function Ending({ question, resolution }: { question: Interaction; resolution: Resolution }) {
  const { t } = useTranslation();
  const { icon, words } = useEnding(question, resolution);
  const { delivery } = question;
  const { answer, status } = resolution;
  const tone = status === 'answered' ? 'good' : status === 'expired' ? 'warn' : 'plain';
  return (
    <Notice tone={tone} icon={icon} role="status" title={<AgentLine text={words} />}>
      <div className="mt-1 space-y-2 text-sm">
        <Ago at={resolution.at} />
        {answer?.feedback ? <AgentText text={reasonOf(t, answer.feedback)} /> : null}
        {resolution.reason && resolution.reason !== answer?.feedback ? (
          <AgentText text={reasonOf(t, resolution.reason)} />
        ) : null}
        {answer?.arguments ? <AnswerValue title={t('ended.arguments')} value={answer.arguments} /> : null}
        {answer?.data !== undefined && answer.data !== null ? (
          <AnswerValue title={t('ended.data')} value={answer.data} />
        ) : null}
        {answer && delivery && delivery.state !== 'not_needed' ? (
          <p>{t(`delivery.${delivery.state as 'waiting'}`, { defaultValue: delivery.state })}</p>
        ) : null}
      </div>
    </Notice>
  );
}

function AnswerValue({ title, value }: { title: string; value: unknown }) {
  return (
    <div className="rounded-md border bg-surface px-3 py-2 text-ink">
      <div className="text-muted text-xs">{title}</div>
      <JsonTable value={value} />
    </div>
  );
}
