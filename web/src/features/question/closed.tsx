import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import type { Interaction, Resolution } from '@/api/types';
import { cn } from '@/lib/cn';
import { AgentLine } from '@/ui/agent-text';
import { useEnding } from '@/ui/ending';
import { DOCK, overDock } from './dock';

interface Props {
  question: Interaction;
  resolution: Resolution;
  next?: ReactNode;
  /** Whether the answer contained the focus when it was removed. */
  left: RefObject<boolean>;
}

/**
 * Replaces the buttons when an open question ends: shows the result, and a link to the next question at the far end, so
 * that a click that was meant for a button hits nothing else.
 */
export function Closed({ question, resolution, next, left }: Props) {
  const { icon: Icon, words } = useEnding(question, resolution);
  const place = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (left.current) place.current?.focus({ preventScroll: true });
  }, [left]);
  return (
    <div ref={overDock} data-closed className={cn(DOCK, 'flex flex-wrap items-center justify-end gap-x-4 gap-y-2')}>
      <p
        ref={place}
        tabIndex={-1}
        className="flex min-h-9 min-w-0 flex-1 basis-60 items-center gap-2 font-medium outline-none max-sm:min-h-11"
      >
        <Icon aria-hidden="true" className="size-4 shrink-0 text-muted" />
        <AgentLine text={words} />
      </p>
      {next}
    </div>
  );
}
