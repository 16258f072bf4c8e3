import type { Session, Step } from '@/api/types';

export type StepCommand = 'retry_step' | 'skip_step' | 'approve_step';

const ALIVE = ['pending', 'running', 'blocked_waiting_user'];

/**
 * What a person can do about a step. Only the one that the session is at takes commands: the last, of a session that the
 * server runs. One that failed can be tried again; one that has not ended can be passed over.
 */
export function stepCommands(session: Pick<Session, 'driven' | 'status' | 'steps'>, step: Step): StepCommand[] {
  if (!session.driven || session.steps?.at(-1)?.id !== step.id) return [];
  if (step.status === 'failed') return ['retry_step', 'skip_step', 'approve_step'];
  const over = ['completed', 'failed', 'cancelled'].includes(session.status);
  return ALIVE.includes(step.status) && !over ? ['skip_step', 'approve_step'] : [];
}
