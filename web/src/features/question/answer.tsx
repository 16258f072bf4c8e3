import { useQuery } from '@tanstack/react-query';
import { type RefObject, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { asProblem } from '@/api/problem';
import { meQuery, sessionQuery } from '@/api/queries';
import type { Interaction, Suggestion } from '@/api/types';
import { cn } from '@/lib/cn';
import { useDraft } from '@/lib/draft';
import { showJson } from '@/lib/exact';
import { holder } from '@/lib/focus';
import { useShortcuts } from '@/lib/shortcuts';
import { audienceNames } from '@/model/audience';
import { editBegun } from '@/model/edit';
import { barred } from '@/model/may';
import {
  answerOf,
  carriesForm,
  fieldOf,
  type Inputs,
  keepable,
  type Move,
  moveFor,
  moves,
  NO_INPUTS,
  opensPanel,
  settled,
  takes,
} from '@/model/moves';
import { AgentLine } from '@/ui/agent-text';
import { Notice, Section } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { DOCK, overDock } from './dock';
import { Fields } from './fields';
import { HandedOver } from './handed-over';
import { useInSight } from './in-sight';
import { MoveButtons } from './move-buttons';
import { MovePanel } from './move-panel';
import { OptionDescriptions } from './option-descriptions';
import { OtherMoves } from './other-moves';
import { Remember, rememberable } from './remember';
import { Suggestions } from './suggestions';
import { useAnswer } from './use-answer';

// The question itself shows how it ended, so these errors are not shown.
const CLOSED_MEANWHILE = ['interaction_already_resolved', 'interaction_expired'];

interface Props {
  question: Interaction;
  dock?: boolean;
  begin?: 'approve' | 'edit' | 'reject';
  /** Set when the component is removed: whether it contained the focus. */
  left?: RefObject<boolean>;
}

/** All inputs and buttons that answer a question. */
export function Answer({ question, dock, begin, left }: Props) {
  const { t } = useTranslation();
  const { data: me } = useQuery(meQuery());
  const { data: session } = useQuery(sessionQuery(question.session));
  const [draft, setDraft, forgetDraft] = useDraft(
    me && keepable(question) ? `${me.name} ${question.id}` : undefined,
    NO_INPUTS,
  );
  // The standing approval is not part of the stored draft, because the person must choose it beside its summary.
  const [remember, setRemember] = useState<Inputs['remember']>();
  const inputs = useMemo(() => ({ ...draft, remember }), [draft, remember]);
  const [open, setOpen] = useState<Move | null>(null);
  const [ready, setReady] = useState(fieldOf(question) !== 'form');
  const { send, sending, error, forget } = useAnswer(question, forgetDraft);
  const formId = useId();
  const area = useRef<HTMLDivElement>(null);
  const submitting = useRef<Move | null>(null);
  const list = useMemo(() => moves(question), [question]);
  const field = fieldOf(question);
  const change = (part: Partial<Inputs>) => setDraft((now) => ({ ...now, ...part }));

  const make = (move: Move, last = inputs) => send(answerOf(question, move, last));
  // The form validates itself first and then calls `submitted`.
  const submit = (move: Move) => {
    const form = document.getElementById(formId) as HTMLFormElement | null;
    // Unfinished JSON would be sent with its previous value, so the field gets the focus instead.
    const written = carriesForm(move) ? form : takes(move, 'arguments') ? area.current : undefined;
    const unread = written?.querySelector<HTMLElement>('[data-unread]');
    if (unread) return unread.focus();
    if (!carriesForm(move)) return make(move);
    submitting.current = move;
    form?.requestSubmit();
  };
  const submitted = (data: unknown) => {
    const move = submitting.current ?? list[0];
    submitting.current = null;
    if (move) make(move, { ...inputs, data });
  };
  const use = ({ data, option }: Suggestion) => {
    if (data !== undefined && data !== null) {
      if (field === 'text') change({ text: typeof data === 'string' ? data : showJson(data) });
      else change({ data });
    }
    if (option && field === 'choice') change({ picked: [option] });
    else if (option) setOpen(list.find((move) => move.option?.id === option) ?? null);
  };
  const pick = (move: Move) => {
    forget();
    const whole = settled(question, move, inputs.picked);
    if (opensPanel(whole)) setOpen(whole);
    else submit(whole);
  };
  const jump = (wanted: 'approve' | 'edit' | 'reject') => {
    const move = moveFor(list, wanted);
    if (!move) return;
    if (wanted === 'approve') {
      setOpen(null);
      const button = area.current?.querySelector<HTMLElement>(`[data-move="${CSS.escape(move.key)}"]`);
      button?.scrollIntoView({ block: 'nearest' });
      button?.focus();
    } else setOpen(move);
  };
  useShortcuts({ a: () => jump('approve'), e: () => jump('edit'), r: () => jump('reject') }, () =>
    isMeant(area.current),
  );
  useInSight(area, begin !== undefined);
  const started = useRef(false);
  useEffect(() => {
    if (!begin || started.current) return;
    started.current = true;
    jump(begin);
  });

  useLayoutEffect(
    () => () => {
      if (left) left.current = area.current?.contains(holder()) ?? false;
    },
    [left],
  );

  const bar = me ? barred(question, me, session?.started_by.name) : undefined;
  const claimedByOther = question.claim && question.claim.by.name !== me?.name ? question.claim : undefined;
  const voted = question.votes?.some((vote) => vote.by.name === me?.name);
  const abstained = question.abstained?.some((one) => one.by.name === me?.name);
  if (question.handed_over) return <HandedOver to={question.handed_over} />;
  if (bar) return <Notice tone="warn">{t(`answer.barred.${bar}`, { audience: audienceNames(t, question) })}</Notice>;
  if (voted) return <Notice tone="good">{t('answer.voted')}</Notice>;
  const blocked = sending || !ready || claimedByOther !== undefined;
  const failed = error && !CLOSED_MEANWHILE.includes(asProblem(error).code);
  return (
    <div ref={area} data-answer className="contents">
      <Section
        level={3}
        title={t('question.answer')}
        aside={<OtherMoves question={question} mayAbstain={!abstained} />}
      >
        <div className="space-y-4">
          {abstained ? <Notice>{t('instead.abstain.done')}</Notice> : null}
          {claimedByOther ? (
            <Notice tone="warn">
              <AgentLine text={t('answer.claimedBy', { name: claimedByOther.by.name })} />
            </Notice>
          ) : null}
          <Suggestions question={question} onUse={use} />
          <Fields
            id={formId}
            question={question}
            inputs={inputs}
            disabled={blocked}
            error={error}
            onChange={change}
            onReady={() => setReady(true)}
            onSubmit={submitted}
          />
          {rememberable(question, me?.role) ? <Remember question={question} onChange={setRemember} /> : null}
          {open ? null : <OptionDescriptions question={question} />}
          {open ? (
            <MovePanel
              key={open.key}
              question={question}
              move={open}
              inputs={inputs}
              sending={sending}
              blocked={blocked}
              error={error}
              onChange={change}
              onSend={() => submit(open)}
              onBack={() => {
                forget();
                setOpen(null);
              }}
            />
          ) : null}
          {!open && editBegun(question, inputs.edited) ? <Notice>{t('answer.editKept')}</Notice> : null}
          {failed ? <ProblemNotice error={error} /> : null}
        </div>
      </Section>
      {open ? null : (
        <div ref={dock ? overDock : undefined} data-dock={dock} className={cn(dock && DOCK)}>
          <MoveButtons
            question={question}
            moves={list}
            inputs={inputs}
            sending={sending}
            blocked={blocked}
            onPick={pick}
          />
        </div>
      )}
    </div>
  );
}

/**
 * Whether a shortcut is meant for this question. With several questions on a page, it is meant for the one that has the
 * focus.
 */
function isMeant(area: Element | null): boolean {
  const own = area?.closest('article');
  if (!own) return false;
  const focused = document.activeElement?.closest('article');
  if (focused) return focused === own;
  const shown = [...document.querySelectorAll('[data-answer]')].filter((one) => !one.closest('details:not([open])'));
  return shown.length === 1 && shown[0] === area;
}
