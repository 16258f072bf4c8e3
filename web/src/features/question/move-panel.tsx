import { TriangleAlert } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Interaction } from '@/api/types';
import { editOf } from '@/model/edit';
import { moveName, promptOf, sendLabel } from '@/model/labels';
import { type Inputs, type Move, refuses, takes } from '@/model/moves';
import { AgentLine, AgentText } from '@/ui/agent-text';
import { Button } from '@/ui/button';
import { Field, Textarea } from '@/ui/field';
import { OptionFacts } from '@/ui/option-words';
import { Notice, Waiting } from '@/ui/page';
import { show } from './in-sight';

const Edit = lazy(() => import('./edit'));

interface Props {
  question: Interaction;
  move: Move;
  inputs: Inputs;
  sending: boolean;
  blocked: boolean;
  /** Error of the server after a refused answer. */
  error?: unknown;
  onChange: (part: Partial<Inputs>) => void;
  onSend: () => void;
  onBack: () => void;
}

/** Panel for an answer that needs more than a click: a reason, other arguments, or a confirmation. */
export function MovePanel({ question, move, inputs, sending, blocked, error, onChange, onSend, onBack }: Props) {
  const { t } = useTranslation();
  const name = moveName(t, question, move);
  const [opener] = useState(() => document.activeElement);
  const back = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLFieldSetElement>(null);
  const edits = takes(move, 'arguments') !== undefined;
  const feedback = takes(move, 'feedback');
  const writes = feedback !== undefined && !edits;
  useEffect(() => {
    // A dangerous answer never gets the focus; the back button does.
    if (!writes && !edits) back.current?.focus();
    // The fields of an edit may load later and take the focus themselves.
    else if (!panel.current?.contains(document.activeElement)) panel.current?.focus({ preventScroll: true });
    if (back.current) show(back.current);
  }, [writes, edits]);
  const leave = () => {
    const area = panel.current?.closest('[data-answer]');
    onBack();
    requestAnimationFrame(() =>
      area?.querySelector<HTMLElement>(`[data-move="${CSS.escape(move.key)}"]`)?.focus({ preventScroll: true }),
    );
  };
  const options = move.picks ?? (move.option ? [move.option] : []);
  const prompt = (move.prompted ?? options).flatMap((option) => promptOf(t, option) ?? []).join(' · ');
  const silent = feedback === 'required' && inputs.feedback.trim() === '';
  const unchanged = edits && !editOf(question, inputs.edited).changed;
  const stopped = blocked || silent || unchanged;
  const last = refuses(move) || move.dangerous;
  return (
    <fieldset
      ref={panel}
      tabIndex={-1}
      aria-label={name}
      className="appear outline-none min-w-0 space-y-4 rounded-lg border border-edge/50 bg-surface p-4 shadow-card"
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented && !event.nativeEvent.isComposing && !sending) leave();
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !stopped) onSend();
      }}
    >
      <h4 className="font-semibold">
        <AgentLine text={name} />
      </h4>
      {move.option?.description ? <AgentText text={move.option.description} className="text-muted" /> : null}
      {move.option && !move.dangerous ? <OptionFacts option={move.option} /> : null}
      {move.picks ? (
        <ul className="list-disc pl-5">
          {move.picks.map((option) => (
            <li key={option.id}>
              <AgentLine text={option.label} />
            </li>
          ))}
        </ul>
      ) : null}
      {move.dangerous ? (
        <Notice tone="danger" icon={TriangleAlert} title={t('answer.dangerous')}>
          {options.map((option) => (option.dangerous ? <OptionFacts key={option.id} option={option} /> : null))}
        </Notice>
      ) : null}
      {move.does === 'end_session' ? <Notice tone="warn">{t('answer.terminates')}</Notice> : null}
      {edits ? (
        <Suspense fallback={<Waiting label={t('common.loading')} />}>
          <Edit
            question={question}
            edited={inputs.edited}
            opener={opener}
            disabled={blocked}
            error={error}
            onChange={(edited) => onChange({ edited })}
          />
        </Suspense>
      ) : null}
      {feedback ? (
        <Field
          label={<AgentLine text={prompt || t('question.reason')} />}
          optional={feedback === 'required' ? undefined : t('common.optional')}
        >
          {(ids) => (
            <Textarea
              {...ids}
              autoFocus={writes}
              rows={writes ? 3 : 2}
              value={inputs.feedback}
              disabled={blocked}
              onChange={(event) => onChange({ feedback: event.target.value })}
            />
          )}
        </Field>
      ) : null}
      <div className="flex flex-wrap items-center justify-end gap-2">
        <Button ref={back} tone="quiet" onClick={leave} disabled={sending}>
          {t('common.back')}
        </Button>
        <Button tone={last ? 'solidDanger' : 'accent'} busy={sending} disabled={stopped} onClick={onSend}>
          <AgentLine text={sendLabel(t, question, move)} />
        </Button>
      </div>
    </fieldset>
  );
}
