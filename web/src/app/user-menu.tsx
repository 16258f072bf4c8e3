import { useQuery } from '@tanstack/react-query';
import { CircleUser } from 'lucide-react';
import { lazy } from 'react';
import { useTranslation } from 'react-i18next';
import { meQuery } from '@/api/queries';
import { MenuButton } from '@/ui/menu-button';
import { ConnectionDot } from './connection';

const AccountMenu = lazy(() => import('./account-menu'));

/** The signed-in person and their project. */
export function UserMenu({ compact }: { compact?: boolean }) {
  const { t } = useTranslation();
  const { data: me } = useQuery(meQuery());
  const name = me?.display || me?.name || '';
  const project = me?.projects.find((one) => one.project === me.project)?.name ?? me?.project ?? '';
  return (
    <MenuButton
      label={t('nav.account', { name })}
      menu={(props) => <AccountMenu {...props} />}
      className="flex min-w-0 flex-1 items-center gap-2.5 rounded-md px-2 py-1.5 text-left hover:bg-hover"
    >
      <CircleUser aria-hidden="true" className="size-5 shrink-0 text-muted" strokeWidth={1.6} />
      <span className={compact ? 'sr-only' : 'min-w-0 flex-1'}>
        <span className="block truncate font-medium leading-5">{name}</span>
        <span className="block truncate text-muted text-xs">{project}</span>
      </span>
      <ConnectionDot />
    </MenuButton>
  );
}
