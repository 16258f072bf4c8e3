import { CircleCheck, CircleSlash, Clock } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Interaction, Resolution } from '@/api/types';
import { moveLabel } from '@/model/labels';

/** How it ended and by whom, in a line. */
export function useEnding({ options }: Interaction, { answer, by, status }: Resolution) {
  const { t } = useTranslation();
  const chosen = (answer?.options ?? []).map((id) => {
    const option = options.find((one) => one.id === id);
    return option ? moveLabel(t, option) : id;
  });
  const said =
    answer && answer.effect !== 'provide' && answer.effect !== 'custom' ? t(`effects.${answer.effect}`) : undefined;
  const what = chosen.length > 0 ? chosen.join(', ') : said;
  const icon =
    status === 'answered' || status === 'auto_resolved' ? CircleCheck : status === 'expired' ? Clock : CircleSlash;
  const who = by?.name ?? t('ended.nobody');
  const words = t(`ended.${status as 'answered'}`, { who, what: what ?? '', context: what ? 'what' : undefined });
  return { icon, words };
}
