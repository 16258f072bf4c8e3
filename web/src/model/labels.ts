import type { TFunction } from 'i18next';
import type { Option } from '@/api/types';

// The words that the server gives its usual options. Only these are translated: what an agent has named stays as named.
const USUAL: Record<string, string> = {
  approve: 'Approve',
  edit: 'Edit and approve',
  retry: 'Think again',
  reject: 'Reject',
  terminate: 'Reject and end the session',
  confirm: 'Confirm',
  cancel: 'Cancel',
  revise: 'Revise',
};

/** What a button for this option says. */
export function moveLabel(t: TFunction, option: Pick<Option, 'id' | 'label'>): string {
  return USUAL[option.id] === option.label ? t(`moves.${option.id}` as 'moves.approve') : option.label;
}

const PROMPT = 'What should be different?';

/** What a person is asked for with this option. */
export function promptOf(t: TFunction, option?: Pick<Option, 'input_prompt'>): string | undefined {
  const prompt = option?.input_prompt ?? undefined;
  return prompt === PROMPT ? t('moves.prompt') : prompt;
}
