import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useTitle } from '@/app/title';
import { Figures } from '@/features/figures/figures';

export function FiguresRoute() {
  const { t } = useTranslation();
  const { window } = useSearch({ from: '/inside/figures' });
  const navigate = useNavigate({ from: '/figures' });
  useTitle(t('nav.figures'));
  return <Figures window={window ?? 86_400} onWindow={(next) => void navigate({ search: { window: next } })} />;
}
