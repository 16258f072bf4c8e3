import { useQuery } from '@tanstack/react-query';
import { Hand, TriangleAlert } from 'lucide-react';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { asProblem } from '@/api/problem';
import { explainQuery } from '@/api/queries';
import type { BatchResult, Interaction, Json } from '@/api/types';
import { askerOf, messageOf, moveName, titleOf } from '@/model/labels';
import type { Move } from '@/model/moves';
import { callLine, contextBeside } from '@/model/subject';
import { AgentLine, AgentText } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { CallInLine } from '@/ui/call';
import { JsonTable } from '@/ui/json';
import { useKindName } from '@/ui/kind';
import { OptionWords } from '@/ui/option-words';
import { Risks } from '@/ui/parsed';
import { Subject } from '@/ui/subject';
import { Countdown } from '@/ui/time';
import { Result } from './batch-result';

interface Props {
  question: Interaction;
  /** Answer to send; absent if the question is left out. */
  move?: Move;
  /** Reason why the question is left out. */
  left?: 'alone' | 'dangerous' | 'barred';
  /** Whether the details are shown at first. */
  whole: boolean;
  result?: BatchResult;
}

/** One question of a batch: its subject, and the answer to send. */
export function BatchRow({ question, move, left, whole, result }: Props) {
  const { t } = useTranslation();
  const kindName = useKindName();
  const title = useId();
  const message = messageOf(t, question);
  return (
    <li aria-labelledby={title} className="space-y-2 px-4 py-3">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-1">
        <div id={title} className="min-w-0 flex-1 basis-60 font-medium">
          <AgentText text={titleOf(t, question)} lines={3} characters={240} />
        </div>
        <Result question={question} left={left} move={move} result={result} />
      </div>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-muted text-sm">
        <span>{kindName(question.kind)}</span>
        <span aria-hidden="true">·</span>
        <AgentLine text={askerOf(t, question)} />
        {question.deadline ? <Countdown until={question.deadline} /> : null}
        {question.claim ? (
          <Badge tone="warn">
            <Hand aria-hidden="true" />
            <AgentLine text={t('answer.claimedBy', { name: question.claim.by.name })} />
          </Badge>
        ) : null}
      </div>
      {message ? <AgentText text={message} lines={3} characters={240} /> : null}
      <About question={question} whole={whole} />
      {move ? (
        <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1 rounded-md bg-sunken px-3 py-2">
          <span className="text-muted text-sm">
            {t(result ? (result.problem ? 'batch.notSent' : 'batch.sent') : 'batch.sends')}
          </span>
          {move.option ? (
            <OptionWords option={move.option} />
          ) : (
            <span className="font-medium">{moveName(t, question, move)}</span>
          )}
        </div>
      ) : null}
    </li>
  );
}

/** The call, details and context: in full, or in one line that unfolds. */
function About({ question, whole }: { question: Interaction; whole: boolean }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(whole);
  const line = callLine(question.action);
  const context = contextBeside(question);
  const more = context !== undefined && context !== null;
  if (!line && !question.details && !more) return null;
  return (
    <div className="space-y-2">
      {open ? (
        <>
          <Subject question={question} />
          {question.details ? <AgentText text={question.details} lines={6} characters={600} /> : null}
          {more ? <JsonTable value={context} /> : null}
        </>
      ) : (
        <>
          {line ? <CallInLine line={line} /> : null}
          <CallRisks question={question} />
        </>
      )}
      <button
        type="button"
        className="font-medium text-accent-ink text-sm underline-offset-2 hover:underline"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {open ? t('common.fold') : t('batch.unfold')}
      </button>
    </div>
  );
}

/** Risks of a call that is shown in one line. */
function CallRisks({ question: { action, agent } }: { question: Interaction }) {
  const { t } = useTranslation();
  const { data, error } = useQuery({
    ...explainQuery({ tool: action?.tool ?? '', arguments: (action?.arguments ?? {}) as Json, agent }),
    enabled: action !== undefined && action !== null,
    retry: (failures, problem) => asProblem(problem).passing && failures < 5,
  });
  if (error)
    return (
      <p className="flex items-center gap-2 text-sm text-warn-ink">
        <TriangleAlert aria-hidden="true" className="size-4 shrink-0" />
        {t('batch.unread')}
      </p>
    );
  return data ? <Risks parsed={data.parsed as Record<string, unknown>} /> : null;
}
