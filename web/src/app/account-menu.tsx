import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Bell, BellOff, Keyboard, LogOut } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { people } from '@/api/people';
import { meQuery } from '@/api/queries';
import { tellTabs } from '@/lib/account';
import { forgetDrafts } from '@/lib/draft';
import { LANGUAGES } from '@/lib/i18n';
import { Menu, MenuChoice, MenuItem, MenuLine, type MenuProps } from '@/ui/menu';
import { showToast } from '@/ui/show-toast';
import { useHelp } from './help';
import { canNotify, wantNotifications } from './notify';
import { usePreferences } from './preferences';

/** Account menu: project, preferences of this browser, sign out. */
export default function AccountMenu(props: MenuProps) {
  const { t } = useTranslation();
  const { data: me } = useQuery(meQuery());
  const { theme, language, notify } = usePreferences();
  const toggle = async () => {
    if (!(await wantNotifications(!notify))) showToast(t('preferences.notifyRefused'), 'danger');
  };
  // On a phone the button is at the top right, on a desktop at the bottom left.
  const desk = matchMedia('(min-width: 64rem)').matches;
  return (
    <Menu
      {...props}
      label={t('nav.account', { name: me?.display || me?.name || '' })}
      side={desk ? 'top' : 'bottom'}
      align={desk ? 'start' : 'end'}
    >
      {me && me.projects.length > 1 ? <Projects /> : null}
      <MenuChoice
        label={t('preferences.theme')}
        value={theme}
        options={[
          ['system', t('preferences.system')],
          ['light', t('preferences.light')],
          ['dark', t('preferences.dark')],
        ]}
        onChange={(next) => usePreferences.setState({ theme: next })}
      />
      <MenuChoice
        label={t('preferences.language')}
        value={language}
        options={LANGUAGES}
        onChange={(next) => usePreferences.setState({ language: next })}
      />
      <MenuLine />
      {canNotify ? (
        <MenuItem onSelect={() => void toggle()}>
          {notify ? <BellOff aria-hidden="true" /> : <Bell aria-hidden="true" />}
          {notify ? t('preferences.notifyOff') : t('preferences.notifyOn')}
        </MenuItem>
      ) : null}
      <MenuItem onSelect={() => useHelp.setState({ open: true })}>
        <Keyboard aria-hidden="true" />
        {t('help.title')}
      </MenuItem>
      <SignOut />
    </Menu>
  );
}

function Projects() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { data: me } = useQuery(meQuery());
  const change = async (project: string) => {
    await people.speakFor(project);
    tellTabs('entered');
    cache.clear();
    location.assign('/inbox');
  };
  return (
    <>
      <MenuChoice
        label={t('nav.project')}
        value={me?.project ?? ''}
        options={(me?.projects ?? []).map((one) => [one.project, one.name] as const)}
        onChange={(project) => void change(project)}
      />
      <MenuLine />
    </>
  );
}

function SignOut() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const leave = async () => {
    await people.signOut();
    forgetDrafts();
    tellTabs('left');
    cache.clear();
    await navigate({ to: '/sign-in' });
  };
  return (
    <MenuItem onSelect={() => void leave()}>
      <LogOut aria-hidden="true" />
      {t('nav.signOut')}
    </MenuItem>
  );
}
