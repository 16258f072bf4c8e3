import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useTitle } from '@/app/title';
import { Policy } from '@/features/policy/policy';

export function PolicyRoute() {
  const { t } = useTranslation();
  const { tab } = useSearch({ from: '/inside/policy' });
  const navigate = useNavigate({ from: '/policy' });
  useTitle(t('nav.policy'));
  return <Policy tab={tab ?? 'text'} onTab={(next) => void navigate({ search: { tab: next } })} />;
}
