import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { meQuery } from '@/api/queries';
import { Menu, MenuItem, type MenuProps } from '@/ui/menu';
import { ALWAYS, navLinksFor } from './nav';

/** Menu with the pages that do not fit into the navigation bar of a phone. */
export default function MoreMenu(props: MenuProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { data: me } = useQuery(meQuery());
  return (
    <Menu {...props} label={t('nav.more')} side="top" align="end">
      {navLinksFor(me?.role)
        .filter((link) => !ALWAYS.includes(link.name))
        .map(({ to, name, icon: Icon }) => (
          <MenuItem key={to} onSelect={() => void navigate({ to })}>
            <Icon aria-hidden="true" />
            {t(`nav.${name}`)}
          </MenuItem>
        ))}
    </Menu>
  );
}
