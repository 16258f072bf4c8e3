import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { Ellipsis, ShieldAlert } from 'lucide-react';
import { lazy, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { asProblem } from '@/api/problem';
import { meQuery } from '@/api/queries';
import { forgetNext } from '@/lib/account';
import { cn } from '@/lib/cn';
import { MenuButton } from '@/ui/menu-button';
import { ConnectionBanner } from './connection';
import { Help } from './help';
import { follow } from './live';
import { ALWAYS, navLinksFor } from './nav';
import { lookAt, notifyOf } from './notify';
import { useOpenCount } from './title';
import { UserMenu } from './user-menu';

/** Frame around every page of a signed-in person. */
export function Shell() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { data: me } = useQuery(meQuery());
  const whose = me ? `${me.name} ${me.project}` : undefined;
  useSignInRedirect();
  useEffect(forgetNext, []);
  useEffect(() => {
    if (whose === undefined) return;
    const open = (interaction: string) => void navigate({ to: '/inbox/$interaction', params: { interaction } });
    const stopLooking = lookAt(whose);
    const stop = follow({ whose, cache, heard: (event) => void notifyOf(event, { whose, cache, open }) });
    return () => {
      stopLooking();
      stop();
    };
  }, [whose, cache, navigate]);
  return (
    <div className="flex h-dvh flex-col lg:flex-row">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-surface focus:px-3 focus:py-2 focus:shadow-float"
      >
        {t('nav.skip')}
      </a>
      <SideBar />
      <TopBar />
      <main id="main" tabIndex={-1} className="relative min-h-0 min-w-0 flex-1 overflow-y-auto outline-none">
        <ConnectionBanner />
        {me?.unconfined_commands ? <UnconfinedBanner /> : null}
        {/* Remounts for another person or project, so that no unfinished input is carried over. */}
        {whose === undefined ? null : <Outlet key={whose} />}
      </main>
      <BottomBar />
      <Help />
    </div>
  );
}

/** Warning that agent commands run without a sandbox. */
function UnconfinedBanner() {
  const { t } = useTranslation();
  return (
    <div
      role="status"
      className="flex items-center justify-center gap-2 border-warn/30 border-b bg-warn-soft px-4 py-2 font-medium text-sm text-warn-ink"
    >
      <ShieldAlert aria-hidden="true" className="size-4 shrink-0" />
      {t('unconfined')}
    </div>
  );
}

/** Redirects a person who is signed out to the sign-in page, and back after signing in. */
function useSignInRedirect(): void {
  const { error } = useQuery(meQuery());
  const cache = useQueryClient();
  const navigate = useNavigate();
  const out = error !== null && asProblem(error).status === 401;
  useEffect(() => {
    // On the sign-in page the stored destination stays as it is.
    if (!out || location.pathname === '/sign-in') return;
    const next = location.pathname + location.search;
    void navigate({ to: '/sign-in', search: { next } }).then(() => cache.clear());
  }, [out, cache, navigate]);
}

function Brand() {
  return (
    <Link to="/inbox" className="flex items-center gap-2.5 rounded-md font-semibold text-lg tracking-tight">
      <img src="/icon.svg" alt="" className="size-6" />
      Holdpoint
    </Link>
  );
}

function SideBar() {
  const { t } = useTranslation();
  const { data: me } = useQuery(meQuery());
  return (
    <aside className="hidden w-56 shrink-0 flex-col border-r bg-surface px-3 py-4 lg:flex">
      <div className="px-2 pb-5">
        <Brand />
      </div>
      <nav aria-label={t('nav.label')} className="flex flex-1 flex-col gap-0.5">
        {navLinksFor(me?.role).map(({ to, name, icon: Icon }) => (
          <Link
            key={to}
            to={to}
            className="flex h-9 items-center gap-3 rounded-md px-2.5 font-medium text-muted hover:bg-hover hover:text-ink"
            activeProps={{ className: 'bg-accent-soft! text-accent-ink!' }}
          >
            <Icon aria-hidden="true" className="size-4.5" strokeWidth={1.8} />
            <span className="flex-1">{t(`nav.${name}`)}</span>
            {name === 'inbox' ? <OpenCount /> : null}
          </Link>
        ))}
      </nav>
      <UserMenu />
    </aside>
  );
}

function OpenCount({ dot }: { dot?: boolean }) {
  const { t } = useTranslation();
  const open = useOpenCount();
  if (!open) return null;
  return (
    <span
      className={cn(
        'rounded-full bg-accent px-1.5 text-center font-semibold text-on-accent text-xs tabular-nums leading-5',
        dot && 'absolute -top-1.5 left-1/2 ml-1 min-w-4.5 px-1! text-[0.6875rem]! leading-4.5!',
      )}
    >
      <span aria-hidden="true">{open > 99 ? '99+' : open}</span>
      <span className="sr-only">{t('nav.open', { count: open })}</span>
    </span>
  );
}

function TopBar() {
  return (
    <header className="flex h-13 shrink-0 items-center justify-between border-b bg-surface px-4 lg:hidden">
      <Brand />
      <UserMenu compact />
    </header>
  );
}

const MoreMenu = lazy(() => import('./more-menu'));

function BottomBar() {
  const { t } = useTranslation();
  const { data: me } = useQuery(meQuery());
  const path = useRouterState({ select: (state) => state.location.pathname });
  const links = navLinksFor(me?.role);
  const more = links.filter((link) => !ALWAYS.includes(link.name));
  const look =
    'relative flex flex-1 flex-col items-center justify-center gap-0.5 text-xs font-medium text-muted data-[here=true]:text-accent-ink';
  return (
    <nav
      aria-label={t('nav.label')}
      className="flex h-15 shrink-0 border-t bg-surface pb-[env(safe-area-inset-bottom)] lg:hidden"
    >
      {links
        .filter((link) => ALWAYS.includes(link.name))
        .map(({ to, name, icon: Icon }) => (
          <Link key={to} to={to} className={look} data-here={path.startsWith(to)}>
            <span className="relative">
              <Icon aria-hidden="true" className="size-5" strokeWidth={1.8} />
              {name === 'inbox' ? <OpenCount dot /> : null}
            </span>
            {t(`nav.${name}`)}
          </Link>
        ))}
      <MenuButton
        menu={(props) => <MoreMenu {...props} />}
        className={look}
        here={more.some((link) => path.startsWith(link.to))}
      >
        <Ellipsis aria-hidden="true" className="size-5" strokeWidth={1.8} />
        {t('nav.more')}
      </MenuButton>
    </nav>
  );
}
