import { useTranslation } from 'react-i18next';
import type { SessionStatus, Status, StepStatus } from '@/api/types';
import { Badge, type Tone } from './badge';

const QUESTION: Record<Status, Tone> = {
  pending: 'accent',
  answered: 'good',
  auto_resolved: 'plain',
  expired: 'warn',
  cancelled: 'plain',
};

const SESSION: Record<SessionStatus, Tone> = {
  new: 'plain',
  running: 'accent',
  waiting_user_input: 'warn',
  paused: 'warn',
  completed: 'good',
  failed: 'danger',
  cancelled: 'plain',
};

const STEP: Record<StepStatus, Tone> = {
  pending: 'plain',
  running: 'accent',
  blocked_waiting_user: 'warn',
  completed: 'good',
  failed: 'danger',
  skipped: 'plain',
  cancelled: 'plain',
};

export function StatusBadge({ status }: { status: Status }) {
  const { t } = useTranslation();
  return <Badge tone={QUESTION[status]}>{t(`status.${status}`)}</Badge>;
}

export function SessionBadge({ status }: { status: SessionStatus }) {
  const { t } = useTranslation();
  return <Badge tone={SESSION[status]}>{t(`sessionStatus.${status}`)}</Badge>;
}

export function StepBadge({ status }: { status: StepStatus }) {
  const { t } = useTranslation();
  return <Badge tone={STEP[status]}>{t(`stepStatus.${status}`)}</Badge>;
}
