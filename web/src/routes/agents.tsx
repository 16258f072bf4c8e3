import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useTitle } from '@/app/title';
import { Agents } from '@/features/agents/agents';

export function AgentsRoute() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  useTitle(t('nav.agents'));
  return <Agents onStarted={(session) => void navigate({ to: '/sessions/$session', params: { session } })} />;
}
