import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useTitle } from '@/app/title';
import { Sessions } from '@/features/sessions/sessions';

export function SessionsRoute() {
  const { t } = useTranslation();
  const filter = useSearch({ from: '/inside/sessions' });
  const navigate = useNavigate({ from: '/sessions' });
  useTitle(t('nav.sessions'));
  return (
    <Sessions
      filter={filter}
      onFilter={(change) => void navigate({ search: (search) => ({ ...search, ...change }), replace: true })}
    />
  );
}
