import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { meQuery } from '@/api/queries';
import { Page } from '@/ui/page';
import { PageTabs } from '@/ui/tabs';
import { Keys } from './keys';
import { MyAccount } from './my-account';
import { People } from './people';
import { KeptSecrets } from './secrets';
import { type MessageFilter, Webhooks } from './webhooks';

type Tab = 'me' | 'keys' | 'people' | 'secrets' | 'webhooks';

interface Props {
  tab: Tab;
  onTab: (tab: Tab) => void;
  shown: MessageFilter;
  onShow: (shown: MessageFilter) => void;
}

/** Settings: account, people, keys, saved secrets and webhooks. */
export function Settings({ tab, onTab, shown: unfolded, onShow }: Props) {
  const { t } = useTranslation();
  const { data: me } = useQuery(meQuery());
  const admin = me?.role === 'admin';
  const tabs: (readonly [Tab, string])[] = [['me', t('settings.me')]];
  if (admin) tabs.push(['people', t('settings.people')], ['keys', t('settings.keys')]);
  if (admin || me?.role === 'operator') tabs.push(['secrets', t('settings.secrets')]);
  if (admin) tabs.push(['webhooks', t('settings.webhooks')]);
  const shown = tabs.some(([name]) => name === tab) ? tab : 'me';
  return (
    <Page title={t('nav.settings')} narrow>
      <PageTabs label={t('nav.settings')} value={shown} tabs={tabs} onChange={onTab} />
      {shown === 'me' ? <MyAccount /> : null}
      {shown === 'people' ? <People /> : null}
      {shown === 'keys' ? <Keys /> : null}
      {shown === 'secrets' ? <KeptSecrets /> : null}
      {shown === 'webhooks' ? <Webhooks shown={unfolded} onShow={onShow} /> : null}
    </Page>
  );
}
