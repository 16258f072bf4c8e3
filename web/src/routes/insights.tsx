import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useTitle } from '@/app/title';
import { Insights } from '@/features/insights/insights';

export function InsightsRoute() {
  const { t } = useTranslation();
  const { window } = useSearch({ from: '/inside/insights' });
  const navigate = useNavigate({ from: '/insights' });
  useTitle(t('nav.insights'));
  return <Insights window={window ?? 86_400} onWindow={(next) => void navigate({ search: { window: next } })} />;
}
