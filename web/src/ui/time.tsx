import { Clock } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useServerNow } from '@/lib/clock';
import { cn } from '@/lib/cn';
import { ago, countdown, moment, urgency } from '@/lib/time';

/** Relative time; the exact time is in the tooltip. */
export function Ago({ at, className }: { at: string; className?: string }) {
  const { i18n } = useTranslation();
  const now = useServerNow();
  return (
    <time dateTime={at} title={moment(at, i18n.language)} className={cn('whitespace-nowrap', className)}>
      {ago(at, now, i18n.language)}
    </time>
  );
}

/** Time left until the deadline. */
export function Countdown({ until, className }: { until: string; className?: string }) {
  const { t, i18n } = useTranslation();
  const left = Date.parse(until) - useServerNow();
  const state = urgency(left);
  const text = countdown(left, { day: t('common.dayShort'), hour: t('common.hourShort') });
  return (
    <span
      role="timer"
      aria-label={state === 'over' ? t('common.timeOver') : t('common.timeLeft', { time: text })}
      title={moment(until, i18n.language)}
      className={cn(
        'inline-flex items-center gap-1 whitespace-nowrap rounded-sm px-1.5 py-0.5 font-medium text-xs tabular-nums leading-4',
        state === 'calm' && 'bg-hover text-muted',
        state === 'soon' && 'bg-warn-soft text-warn-ink',
        (state === 'last' || state === 'over') && 'bg-danger-soft text-danger-ink',
        className,
      )}
    >
      <Clock aria-hidden="true" className="size-3" />
      {state === 'over' ? t('common.timeOver') : text}
    </span>
  );
}
