import { useTranslation } from 'react-i18next';
import type { Policy } from '@/api/types';
import { spelled } from '@/lib/text';
import { Ago } from '@/ui/time';

/** Who changed the policy last, and when. */
export function ChangedBy({ policy }: { policy: Policy }) {
  const { t } = useTranslation();
  return (
    <span>
      {t('policy.changedBy', { name: spelled(policy.changed_by.name) })} <Ago at={policy.changed_at} />
    </span>
  );
}
