import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Bell, BellOff, CircleUser, Keyboard, LogOut } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { people } from '@/api/people';
import { meQuery } from '@/api/queries';
import { LANGUAGES } from '@/lib/i18n';
import { Menu, MenuChoice, MenuItem, MenuLine } from '@/ui/menu';
import { ConnectionDot } from './connection';
import { useHelp } from './help';
import { canNotify, wantNotifications } from './notify';
import { usePreferences } from './preferences';

/** Who is signed in, for which project, and how this browser shows things. */
export function UserMenu({ compact }: { compact?: boolean }) {
  const { t } = useTranslation();
  const { data: me } = useQuery(meQuery());
  const { theme, language, notify } = usePreferences();
  const name = me?.display || me?.name || '';
  const project = me?.projects.find((one) => one.project === me.project)?.name ?? me?.project ?? '';
  return (
    <Menu
      side={compact ? 'bottom' : 'top'}
      align={compact ? 'end' : 'start'}
      trigger={
        <button
          type="button"
          aria-label={t('nav.account', { name })}
          className="flex items-center gap-2.5 rounded-md px-2 py-1.5 text-left hover:bg-hover"
        >
          <CircleUser aria-hidden="true" className="size-5 shrink-0 text-muted" strokeWidth={1.6} />
          <span className={compact ? 'sr-only' : 'min-w-0 flex-1'}>
            <span className="block truncate font-medium leading-5">{name}</span>
            <span className="block truncate text-muted text-xs">{project}</span>
          </span>
          <ConnectionDot />
        </button>
      }
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
        <MenuItem onSelect={() => void wantNotifications(!notify)}>
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
