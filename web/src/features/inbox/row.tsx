import { Link } from '@tanstack/react-router';
import { Hand, TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Interaction } from '@/api/types';
import { cn } from '@/lib/cn';
import { oneLine } from '@/lib/text';
import { askerOf, titleOf } from '@/model/labels';
import { callLine } from '@/model/subject';
import { AgentLine } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { CallInLine } from '@/ui/call';
import { KindIcon, useKindName } from '@/ui/kind';
import { StatusBadge } from '@/ui/status';
import { Ago, Countdown } from '@/ui/time';

interface Props {
  question: Interaction;
  here: boolean;
  selected: boolean;
  /**
   * Selects the question, if it can be answered in a batch; with `range`, all questions since the last selected one.
   */
  onSelect?: (range: boolean) => void;
}

/** One row of the list: title, agent, age and deadline. */
export function Row({ question, here, selected, onSelect }: Props) {
  const { t } = useTranslation();
  const kindName = useKindName();
  const call = callLine(question.action);
  const open = question.status === 'pending';
  return (
    <li
      data-question={question.id}
      className={cn(
        'group relative flex gap-3 border-b py-3 pr-4 pl-3 transition-colors hover:bg-hover has-[a:focus-visible]:outline-2 has-[a:focus-visible]:-outline-offset-2 has-[a:focus-visible]:outline-accent',
        here && 'bg-accent-soft hover:bg-accent-soft',
      )}
    >
      <div className="flex flex-col items-center pt-0.5">
        {onSelect ? (
          <label className="z-10 -m-2 p-2">
            <input
              type="checkbox"
              checked={selected}
              onChange={({ nativeEvent }) => onSelect(nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)}
              aria-label={t('inbox.select', { title: oneLine(titleOf(t, question), 60) })}
            />
          </label>
        ) : (
          <KindIcon kind={question.kind} className="size-4 text-muted" />
        )}
      </div>
      <div className="min-w-0 flex-1">
        <div className="flex items-start justify-between gap-3">
          <Link
            from="/inbox"
            to="/inbox/$interaction"
            params={{ interaction: question.id }}
            search={(search) => ({ ...search, move: undefined })}
            aria-current={here ? 'page' : undefined}
            className="line-clamp-2 min-w-0 font-medium outline-none before:absolute before:inset-0 before:content-['']"
          >
            <AgentLine text={titleOf(t, question)} />
          </Link>
          {open && question.deadline ? <Countdown until={question.deadline} className="mt-0.5 shrink-0" /> : null}
        </div>
        {call ? <CallInLine line={call} /> : null}
        <div className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-muted text-xs">
          <span className="inline-flex items-center gap-1">
            {onSelect ? <KindIcon kind={question.kind} className="size-3.5" /> : null}
            {kindName(question.kind)}
          </span>
          <span aria-hidden="true">·</span>
          <span className="max-w-40 truncate">
            <AgentLine text={askerOf(t, question)} />
          </span>
          <span aria-hidden="true">·</span>
          <Ago at={question.created_at} />
          {question.overdue ? (
            <Badge tone="danger">
              <TriangleAlert aria-hidden="true" />
              {t('inbox.overdue')}
            </Badge>
          ) : null}
          {question.claim ? (
            <Badge tone="warn">
              <Hand aria-hidden="true" />
              <AgentLine text={question.claim.by.name} />
            </Badge>
          ) : null}
          {open ? null : <StatusBadge status={question.status} />}
        </div>
      </div>
    </li>
  );
}
