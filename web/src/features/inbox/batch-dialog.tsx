import { useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { meQuery, sessionQuery } from '@/api/queries';
import type { Interaction } from '@/api/types';
import { barred } from '@/model/may';
import { answerOf, batchMove, type Move, moves, NO_INPUTS } from '@/model/moves';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Textarea } from '@/ui/field';
import { ProblemNotice } from '@/ui/problem';
import { BatchRow } from './batch-row';
import { useBatch } from './use-batch';

interface Props {
  questions: Interaction[];
  effect: 'approve' | 'reject';
  onClose: () => void;
  onDone: () => void;
}

/** Batches up to this size show every question in full; larger ones show one line each. */
const FEW = 10;

/** Shows the answers of a batch, sends them, and shows the result of each. */
export default function BatchDialog({ questions, effect, onClose, onDone }: Props) {
  const { t } = useTranslation();
  const [feedback, setFeedback] = useState('');
  const { ready, rows } = useRows(questions, effect);
  const { send, sending, error, results } = useBatch();
  const fitting = rows.flatMap(({ question, move }) => (move ? [{ question, move }] : []));
  const over = results.size > 0 && results.size === fitting.length;
  const close = () => {
    if (results.size > 0) onDone();
    onClose();
  };
  const go = () =>
    send(
      fitting.map(({ question, move }) => ({
        interaction: question.id,
        ...answerOf(question, move, { ...NO_INPUTS, feedback }),
      })),
    );
  return (
    <Dialog
      open
      wide
      onOpenChange={(open) => open || close()}
      title={t(effect === 'approve' ? 'batch.approveTitle' : 'batch.rejectTitle', { count: fitting.length })}
      about={t('batch.about')}
      footer={
        over ? (
          <Button tone="accent" onClick={close}>
            {t('common.done')}
          </Button>
        ) : (
          <>
            <Button onClick={close}>{t('common.back')}</Button>
            <Button
              tone={effect === 'approve' ? 'accent' : 'solidDanger'}
              busy={sending}
              disabled={fitting.length === 0 || !ready}
              onClick={go}
            >
              {t(effect === 'approve' ? 'batch.approve' : 'batch.reject', { count: fitting.length - results.size })}
            </Button>
          </>
        )
      }
    >
      <p role="status" className="text-sm not-empty:mb-3">
        {sending || results.size > 0 ? t('batch.progress', { done: results.size, count: fitting.length }) : null}
      </p>
      {error ? (
        <div className="mb-4">
          <ProblemNotice error={error} />
        </div>
      ) : null}
      <ul className="divide-y rounded-lg border">
        {rows.map(({ question, move, left }) => (
          <BatchRow
            key={question.id}
            question={question}
            move={move}
            left={left}
            whole={questions.length <= FEW}
            result={results.get(question.id)}
          />
        ))}
      </ul>
      {effect === 'reject' && !over ? (
        <Field label={t('question.reason')} optional={t('common.optional')} className="mt-4">
          {(ids) => <Textarea {...ids} value={feedback} onChange={(event) => setFeedback(event.target.value)} />}
        </Field>
      ) : null}
    </Dialog>
  );
}

interface Row {
  question: Interaction;
  move?: Move;
  left?: 'alone' | 'dangerous' | 'barred';
}

/**
 * Each question with its answer, or the reason why it is left out. Ready once the sessions were read, which name who
 * started them.
 */
function useRows(questions: Interaction[], effect: 'approve' | 'reject'): { ready: boolean; rows: Row[] } {
  const { data: me } = useQuery(meQuery());
  const ids = [...new Set(questions.map((question) => question.session))];
  const sessions = useQueries({ queries: ids.map(sessionQuery) });
  const rows = questions.map((question): Row => {
    const session = sessions[ids.indexOf(question.session)]?.data;
    if (!me || barred(question, me, session?.started_by.name)) return { question, left: 'barred' };
    const move = batchMove(question, effect);
    if (move) return { question, move };
    const danger = moves(question).some((one) => one.dangerous && one.effect === effect);
    return { question, left: danger ? 'dangerous' : 'alone' };
  });
  return { ready: sessions.every((session) => !session.isPending), rows };
}
