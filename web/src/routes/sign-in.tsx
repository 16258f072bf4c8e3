import { useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { SignIn } from '@/features/signin/sign-in';

export function SignInRoute() {
  const { t } = useTranslation();
  const { next, error } = useSearch({ from: '/sign-in' });
  useEffect(() => {
    document.title = `${t('signIn.title')} · Holdpoint`;
  }, [t]);
  return <SignIn next={next ?? '/inbox'} failed={error} />;
}
