import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { asProblem } from '@/api/problem';
import { InboxRoute } from '@/routes/inbox';
import { auditSearch, inboxSearch, sessionsSearch, settingsSearch, signInSearch, tabSearch } from '@/routes/search';
import { readMe } from './cache';
import { Failed, NotFound } from './failed';
import { Shell } from './shell';

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Shell,
  errorComponent: Failed,
  beforeLoad: async ({ location }) => {
    try {
      await readMe();
    } catch (error) {
      if (asProblem(error).status === 401) throw redirect({ to: '/sign-in', search: { next: location.href } });
      throw error;
    }
  },
});

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/inbox' });
  },
});

const inbox = createRoute({
  getParentRoute: () => inside,
  path: '/inbox',
  component: InboxRoute,
  validateSearch: inboxSearch,
});

const nothingChosen = createRoute({
  getParentRoute: () => inbox,
  path: '/',
});

const question = createRoute({
  getParentRoute: () => inbox,
  path: '$interaction',
  component: lazyRouteComponent(() => import('@/routes/question'), 'QuestionRoute'),
});

const sessions = createRoute({
  getParentRoute: () => inside,
  path: '/sessions',
  validateSearch: sessionsSearch,
  component: lazyRouteComponent(() => import('@/routes/sessions'), 'SessionsRoute'),
});

const session = createRoute({
  getParentRoute: () => inside,
  path: '/sessions/$session',
  component: lazyRouteComponent(() => import('@/routes/session'), 'SessionRoute'),
});

const agents = createRoute({
  getParentRoute: () => inside,
  path: '/agents',
  component: lazyRouteComponent(() => import('@/routes/agents'), 'AgentsRoute'),
});

const policy = createRoute({
  getParentRoute: () => inside,
  path: '/policy',
  validateSearch: tabSearch(['text', 'explain', 'history']),
  component: lazyRouteComponent(() => import('@/routes/policy'), 'PolicyRoute'),
});

const grants = createRoute({
  getParentRoute: () => inside,
  path: '/grants',
  validateSearch: (search: Record<string, unknown>) => (search.over === true ? { over: true } : {}),
  component: lazyRouteComponent(() => import('@/routes/grants'), 'GrantsRoute'),
});

const audit = createRoute({
  getParentRoute: () => inside,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('@/routes/audit'), 'AuditRoute'),
});

const insightsSearch = (search: Record<string, unknown>) =>
  typeof search.window === 'number' ? { window: search.window } : {};

const insights = createRoute({
  getParentRoute: () => inside,
  path: '/insights',
  validateSearch: insightsSearch,
  component: lazyRouteComponent(() => import('@/routes/insights'), 'InsightsRoute'),
});

// Address of the insights in 0.1.
const formerInsights = createRoute({
  getParentRoute: () => root,
  path: '/figures',
  validateSearch: insightsSearch,
  beforeLoad: ({ search }) => {
    throw redirect({ to: '/insights', search, replace: true });
  },
});

const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  validateSearch: settingsSearch,
  component: lazyRouteComponent(() => import('@/routes/settings'), 'SettingsRoute'),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => import('@/routes/sign-in'), 'SignInRoute'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    formerInsights,
    signIn,
    inside.addChildren([
      inbox.addChildren([nothingChosen, question]),
      sessions,
      session,
      agents,
      policy,
      grants,
      audit,
      insights,
      settings,
    ]),
  ]),
  // Unknown search parameters never reach a page.
  search: { strict: true },
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
