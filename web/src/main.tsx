import '@fontsource-variable/inter';
import './styles.css';
import './lib/nonce';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { cache } from './app/cache';
import { showTheme, usePreferences } from './app/preferences';
import { router } from './app/router';
import { backFromProvider, hearTabs, keptNext } from './lib/account';
import { forgetDrafts } from './lib/draft';
import { keepFocus } from './lib/focus';
import { speak } from './lib/i18n';
import { signInSearch } from './routes/search';
import { useToasts } from './ui/show-toast';

const { theme, language } = usePreferences.getState();
showTheme(theme);
usePreferences.subscribe((now, before) => {
  if (now.theme !== before.theme) showTheme(now.theme);
  if (now.language !== before.language) void speak(now.language);
});
hearTabs((account) => {
  if (account === 'left') forgetDrafts();
  void cache.resetQueries();
  const { pathname, search } = router.state.location;
  // After sign-in the stored destination opens as a fresh page, without state from before.
  if (account === 'entered' && pathname === '/sign-in' && 'next' in search && search.next)
    location.replace(search.next);
});
if (backFromProvider(location.pathname)) {
  const { next } = signInSearch({ next: keptNext() });
  if (next) router.history.replace(next);
}
keepFocus();
await speak(language);

const Toasts = lazy(() => import('./ui/toast'));

function ToastHost() {
  const some = useToasts((state) => state.toasts.length > 0);
  return some ? (
    <Suspense>
      <Toasts />
    </Suspense>
  ) : null;
}

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={cache}>
        <RouterProvider router={router} />
        <ToastHost />
      </QueryClientProvider>
    </StrictMode>,
  );
}
