import { useTranslation } from 'react-i18next';
import type { Policy } from '@/api/types';
import { spelled } from '@/lib/text';
import { Ago } from '@/ui/time';

/** Author and time of the last policy change. */
export function ChangedBy({ policy }: { policy: Policy }) {
  const { t } = useTranslation();
  return (
    <span>
      {t('policy.changedBy', { name: spelled(policy.changed_by.name) })} <Ago at={policy.changed_at} />
    </span>
  );
}
