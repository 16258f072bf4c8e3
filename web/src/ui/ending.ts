import { useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { CircleCheck, CircleSlash, Clock } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { meQuery } from '@/api/queries';
import type { Interaction, Option, Resolution } from '@/api/types';
import { isNamedByEffect, moveLabel } from '@/model/labels';

/** Result of a question and its author, in one line. */
export function useEnding({ options }: Interaction, resolution: Resolution) {
  const { t } = useTranslation();
  const { data: me } = useQuery(meQuery());
  const { answer, by, status } = resolution;
  const icon =
    status === 'answered' || status === 'auto_resolved' ? CircleCheck : status === 'expired' ? Clock : CircleSlash;
  const who = by?.name ?? t('ended.nobody');
  const { chosen, effect } = answered(t, options, answer);
  if (status === 'answered') {
    const words = t(`ended.${by && by.name === me?.name ? 'you' : 'by'}.${chosen ? 'option' : effect}`, {
      who,
      what: chosen,
    });
    return { icon, words };
  }
  const what = chosen ?? (effect === 'answer' ? undefined : t(`effects.${effect}`));
  const words = t(`ended.${status as 'expired'}`, { who, what: what ?? '', context: what ? 'what' : undefined });
  return { icon, words };
}

type Effect = 'approve' | 'edit' | 'retry' | 'reject' | 'terminate' | 'skip' | 'answer';

/**
 * Labels of the chosen options, unless the effect has an equal label; and the effect, or `answer` if it says no more
 * than that.
 */
function answered(t: TFunction, options: Option[], answer: Resolution['answer']): { chosen?: string; effect: Effect } {
  const ids = answer?.options ?? [];
  const known = ids.map((id) => options.find((one) => one.id === id));
  const effect = answer && answer.effect !== 'provide' && answer.effect !== 'custom' ? answer.effect : 'answer';
  const only = known.length === 1 ? known[0] : undefined;
  if (ids.length === 0 || (only && isNamedByEffect(only) && only.effect === effect)) return { effect };
  return { chosen: known.map((option, at) => (option ? moveLabel(t, option) : ids[at])).join(', '), effect };
}
