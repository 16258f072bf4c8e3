import {
  Ban,
  Bot,
  CircleCheck,
  CircleDot,
  CircleX,
  Clock,
  Flag,
  Forward,
  Hand,
  HelpCircle,
  Lightbulb,
  type LucideIcon,
  MessageSquare,
  MessageSquareReply,
  PackageCheck,
  Pause,
  Play,
  RotateCcw,
  ShieldCheck,
  ShieldX,
  TriangleAlert,
  UserX,
  Zap,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionEvent } from '@/api/types';
import { AgentLine } from './agent-text';
import { Ago } from './time';

const ICONS: Record<string, LucideIcon> = {
  'session.started': Flag,
  'session.paused': Pause,
  'session.resumed': Play,
  'session.cancelled': Ban,
  'session.completed': CircleCheck,
  'session.failed': CircleX,
  'interaction.asked': MessageSquare,
  'interaction.answered': MessageSquareReply,
  'interaction.auto_resolved': MessageSquareReply,
  'interaction.voted': MessageSquareReply,
  'interaction.expired': Clock,
  'interaction.overdue': Clock,
  'interaction.warned': Clock,
  'interaction.claimed': Hand,
  'interaction.handed_over': Forward,
  'interaction.abstained': UserX,
  'interaction.deserted': TriangleAlert,
  'action.allowed': ShieldCheck,
  'action.denied': ShieldX,
  'action.rejected': ShieldX,
  'action.waiting': HelpCircle,
  'action.started': Zap,
  'action.done': CircleCheck,
  'action.failed': CircleX,
  'model.turn': Bot,
  'model.said': Bot,
  'model.thought': Lightbulb,
  'model.failed': CircleX,
  'model.again': RotateCcw,
  'message.sent': MessageSquare,
  'step.begun': Play,
  'step.completed': CircleCheck,
  'step.failed': CircleX,
  'delivery.taken': PackageCheck,
  'delivery.completed': PackageCheck,
};

export interface Particulars {
  by?: { name?: string };
  title?: string;
  tool?: string;
  effect?: string;
  reason?: string;
  kind?: string;
  rule?: string;
  text?: string;
  thinking?: string;
  content?: string;
  output?: unknown;
}

export function EventIcon({ type, className }: { type: string; className?: string }) {
  const Icon = ICONS[type] ?? CircleDot;
  return <Icon aria-hidden="true" className={className} strokeWidth={1.8} />;
}

/** Effects that add nothing to "answered". */
const JUST_SAID = ['provide', 'custom'];

/**
 * Text of an event in the reader's language. An unknown event type is shown unchanged. `about` is the title of the
 * question, for events that do not contain it.
 */
export function EventWords({ event, about }: { event: SessionEvent; about?: string }) {
  const { t } = useTranslation();
  const data = event.data as Particulars;
  const words = t(`events.${event.type.replace('.', '_')}` as 'events.session_started', { defaultValue: event.type });
  const subject = data.title ?? data.tool ?? about;
  const effect =
    data.effect && !JUST_SAID.includes(data.effect)
      ? t(`effects.${data.effect}` as 'effects.approve', { defaultValue: data.effect })
      : undefined;
  return (
    <>
      <span>{words}</span>
      {effect ? <span>: {effect}</span> : null}
      {subject ? (
        <span className="font-medium">
          {' '}
          <AgentLine text={subject} />
        </span>
      ) : null}
    </>
  );
}

/** One line for an event, with optional content below it. */
export function EventLine({ event, about, children }: { event: SessionEvent; about?: string; children?: ReactNode }) {
  const data = event.data as Particulars;
  return (
    <li className="flex items-start gap-2.5 py-1.5 text-sm">
      <EventIcon type={event.type} className="mt-0.5 size-4 shrink-0 text-muted" />
      <div className="min-w-0 flex-1">
        <EventWords event={event} about={about} />
        {data.by?.name ? (
          <span className="text-muted">
            {' · '}
            <AgentLine text={data.by.name} />
          </span>
        ) : null}
        {children}
      </div>
      <Ago at={event.at} className="text-muted text-xs leading-5" />
    </li>
  );
}
