import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useTitle } from '@/app/title';
import { Settings } from '@/features/settings/settings';

export function SettingsRoute() {
  const { t } = useTranslation();
  const { tab, webhook, state } = useSearch({ from: '/inside/settings' });
  const navigate = useNavigate({ from: '/settings' });
  useTitle(t('nav.settings'));
  return (
    <Settings
      tab={tab ?? 'me'}
      onTab={(next) => void navigate({ search: { tab: next } })}
      shown={{ webhook, state }}
      onShow={(next) => void navigate({ search: { tab, ...next }, replace: true })}
    />
  );
}
