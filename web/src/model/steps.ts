import type { Session, Step } from '@/api/types';

export type StepCommand = 'retry_step' | 'skip_step' | 'approve_step';

const ALIVE = ['pending', 'running', 'blocked_waiting_user'];

/**
 * Commands that a person can give about a step. Only the last step of a hosted session accepts commands. A failed step
 * can be retried; a step that has not ended can be skipped.
 */
export function stepCommands(session: Pick<Session, 'driven' | 'status' | 'steps'>, step: Step): StepCommand[] {
  if (!session.driven || session.steps?.at(-1)?.id !== step.id) return [];
  if (step.status === 'failed') return ['retry_step', 'skip_step', 'approve_step'];
  const over = ['completed', 'failed', 'cancelled'].includes(session.status);
  return ALIVE.includes(step.status) && !over ? ['skip_step', 'approve_step'] : [];
}
