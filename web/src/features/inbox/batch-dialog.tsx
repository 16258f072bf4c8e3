import { useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { Check, X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, attemptKey, taken } from '@/api/client';
import { asProblem, Problem } from '@/api/problem';
import { meQuery, sessionQuery } from '@/api/queries';
import type { Interaction } from '@/api/types';
import { titleOf } from '@/model/labels';
import { barred } from '@/model/may';
import { answerOf, batchMove, NO_INPUTS } from '@/model/moves';
import { AgentText } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Textarea } from '@/ui/field';
import { JsonTable } from '@/ui/json';
import { ProblemNotice, useProblemWords } from '@/ui/problem';

interface Props {
  questions: Interaction[];
  effect: 'approve' | 'reject';
  onClose: () => void;
  onDone: () => void;
}

/** Says what will be sent, sends it, and then says what became of each. */
export default function BatchDialog({ questions, effect, onClose, onDone }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [feedback, setFeedback] = useState('');
  const [key] = useState(attemptKey);
  const { data: me } = useQuery(meQuery());
  const sessions = useQueries({ queries: questions.map((question) => sessionQuery(question.session)) });
  const allowed = questions.filter((question, at) => me && !barred(question, me, sessions[at]?.data?.started_by.name));
  const fitting = allowed.filter((question) => batchMove(question, effect));
  const send = useMutation({
    mutationFn: () => {
      const answers = fitting.flatMap((question) => {
        const move = batchMove(question, effect);
        return move ? [{ interaction: question.id, ...answerOf(question, move, { ...NO_INPUTS, feedback }) }] : [];
      });
      return taken(
        api.POST('/v1/interactions/answers', { params: { header: { 'Idempotency-Key': key } }, body: { answers } }),
      );
    },
    retry: (failures, error) => asProblem(error).passing && failures < 3,
    onSuccess: ({ results }) => {
      for (const { interaction, result } of results)
        if (result) cache.setQueryData(['interaction', interaction], result);
      void cache.invalidateQueries({ queryKey: ['interactions'] });
    },
  });
  const results = send.data?.results;
  const close = () => {
    if (results) onDone();
    onClose();
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => open || close()}
      title={t(effect === 'approve' ? 'batch.approveTitle' : 'batch.rejectTitle', { count: fitting.length })}
      about={t('batch.about')}
      footer={
        results ? (
          <Button tone="accent" onClick={close}>
            {t('common.done')}
          </Button>
        ) : (
          <>
            <Button onClick={close}>{t('common.back')}</Button>
            <Button
              tone={effect === 'approve' ? 'accent' : 'solidDanger'}
              busy={send.isPending}
              disabled={fitting.length === 0 || sessions.some((session) => session.isPending)}
              onClick={() => send.mutate()}
            >
              {t(effect === 'approve' ? 'batch.approve' : 'batch.reject', { count: fitting.length })}
            </Button>
          </>
        )
      }
    >
      <ul className="divide-y rounded-lg border">
        {questions.map((question) => (
          <li key={question.id} className="flex items-start gap-3 px-3 py-2">
            <div className="min-w-0 flex-1">
              <AgentText text={titleOf(t, question)} lines={3} characters={240} className="font-medium" />
              <AgentText mono text={question.action?.tool ?? question.agent ?? ''} className="text-muted" />
              {question.action ? <JsonTable value={question.action.arguments} /> : null}
            </div>
            <Result
              left={fitting.includes(question) ? undefined : allowed.includes(question) ? 'alone' : 'barred'}
              result={results?.find((one) => one.interaction === question.id)}
            />
          </li>
        ))}
      </ul>
      {effect === 'reject' && !results ? (
        <Field label={t('question.reason')} optional={t('common.optional')} className="mt-4">
          {(ids) => <Textarea {...ids} value={feedback} onChange={(event) => setFeedback(event.target.value)} />}
        </Field>
      ) : null}
      {send.error ? (
        <div className="mt-4">
          <ProblemNotice error={send.error} />
        </div>
      ) : null}
    </Dialog>
  );
}

interface ResultProps {
  /** Why it is left out. */
  left?: 'alone' | 'barred';
  result?: { status: number; problem?: object | null };
}

function Result({ left, result }: ResultProps) {
  const { t } = useTranslation();
  const words = useProblemWords(result?.problem ? new Problem(result.status, result.problem) : undefined);
  if (left) return <Badge tone="warn">{t(`batch.${left}`)}</Badge>;
  if (!result) return null;
  return result.problem ? (
    <Badge tone="danger" className="whitespace-normal!">
      <X aria-hidden="true" />
      {words}
    </Badge>
  ) : (
    <Badge tone="good">
      <Check aria-hidden="true" />
      {t('batch.taken')}
    </Badge>
  );
}
