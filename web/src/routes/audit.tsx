import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useTitle } from '@/app/title';
import { Audit } from '@/features/audit/audit';
import { PERIODS } from './search';

export function AuditRoute() {
  const { t } = useTranslation();
  const { period = 'day', ...filter } = useSearch({ from: '/inside/audit' });
  const navigate = useNavigate({ from: '/audit' });
  useTitle(t('nav.audit'));
  return (
    <Audit
      filter={filter}
      period={period}
      periods={PERIODS}
      onChange={(change) => void navigate({ search: (search) => ({ ...search, ...change }), replace: true })}
    />
  );
}
