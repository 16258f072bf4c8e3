import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useTitle } from '@/app/title';
import { Grants } from '@/features/grants/grants';

export function GrantsRoute() {
  const { t } = useTranslation();
  const { over } = useSearch({ from: '/inside/grants' });
  const navigate = useNavigate({ from: '/grants' });
  useTitle(t('nav.grants'));
  return <Grants over={over ?? false} onOver={(next) => void navigate({ search: next ? { over: true } : {} })} />;
}
