import { useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { SignIn } from '@/features/signin/sign-in';
import { keepNext, keptNext } from '@/lib/account';
import { signInSearch } from './search';

export function SignInRoute() {
  const { t } = useTranslation();
  const { next, error } = useSearch({ from: '/sign-in' });
  useEffect(() => {
    document.title = `${t('signIn.title')} · Holdpoint`;
    // The open count is not shown before sign-in.
    if ('clearAppBadge' in navigator) void navigator.clearAppBadge().catch(() => undefined);
  }, [t]);
  useEffect(() => {
    if (next) keepNext(next);
  }, [next]);
  const kept = signInSearch({ next: keptNext() }).next;
  return <SignIn next={next ?? kept ?? '/inbox'} failed={error} />;
}
