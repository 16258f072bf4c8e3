import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { people } from '@/api/people';
import { offerQuery } from '@/api/queries';
import { leaveForProvider, tellTabs } from '@/lib/account';
import { Button, buttonLook } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Card, Notice, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';

// Reloads the page, so that no state of another person remains; the target is always on this site.
function enter(next: string): void {
  tellTabs('entered');
  const target = new URL(next, location.origin);
  location.replace(target.origin === location.origin ? target.href : '/inbox');
}

/** Sign-in by password, one-time link or identity provider. */
export function SignIn({ next, failed }: { next: string; failed?: string }) {
  const { t } = useTranslation();
  const [token, setToken] = useState(tokenHere);
  useEffect(() => {
    // A one-time link opened on the sign-in page changes only the fragment.
    const hear = () => setToken((now) => tokenHere() ?? now);
    addEventListener('hashchange', hear);
    return () => removeEventListener('hashchange', hear);
  }, []);
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex flex-col items-center gap-3 text-center">
          <img src="/icon.svg" alt="" className="size-12" />
          <h1 className="font-semibold text-2xl tracking-tight">{t('signIn.title')}</h1>
          <p className="text-muted">{t('signIn.about')}</p>
        </div>
        {failed ? (
          <Notice tone="danger" role="alert" className="mb-4">
            {t(`signIn.errors.${failed}` as 'signIn.errors.sign_in_failed', {
              defaultValue: t('signIn.errors.sign_in_failed'),
            })}
          </Notice>
        ) : null}
        <Card className="p-5">
          {token ? <ByLink key={token} token={token} next={next} /> : <ByPassword next={next} />}
        </Card>
      </div>
    </main>
  );
}

function tokenHere(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get('token');
}

function ByLink({ token, next }: { token: string; next: string }) {
  const { t } = useTranslation();
  const used = useRef(false);
  const link = useMutation({ mutationFn: () => people.enterBy(token), onSuccess: () => enter(next) });
  useEffect(() => {
    // Removes the token from the address and the browser history.
    history.replaceState(null, '', location.pathname + location.search);
  }, []);
  return (
    <div className="space-y-4">
      <p>{t('signIn.byLink')}</p>
      <Button
        tone="accent"
        className="w-full"
        busy={link.isPending || link.isSuccess}
        onClick={() => {
          if (used.current) return;
          used.current = true;
          link.mutate(undefined, { onError: () => (used.current = false) });
        }}
      >
        {t('signIn.go')}
      </Button>
      {link.error ? <ProblemNotice error={link.error} /> : null}
    </div>
  );
}

function ByPassword({ next }: { next: string }) {
  const { t } = useTranslation();
  const { data: offer, error, refetch } = useQuery(offerQuery());
  const signIn = useMutation({
    gcTime: 0,
    mutationFn: ({ user, password }: { user: string; password: string }) => people.signIn(user, password),
    onSuccess: () => enter(next),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    signIn.mutate({ user: String(form.get('user')), password: String(form.get('password')) });
  };
  if (error) return <ProblemNotice error={error} again={() => void refetch()} />;
  if (!offer) return <Waiting rows={3} label={t('common.loading')} />;
  return (
    <div className="space-y-5">
      {offer.oidc ? (
        <a
          href={offer.oidc.url}
          onClick={leaveForProvider}
          className={buttonLook({ tone: offer.password ? 'plain' : 'accent', className: 'w-full' })}
        >
          {t('signIn.with', { label: offer.oidc.label })}
        </a>
      ) : null}
      {offer.password ? (
        <form onSubmit={submit} className="space-y-4">
          <Field label={t('signIn.user')}>
            {(ids) => (
              <Input {...ids} name="user" autoComplete="username" autoCapitalize="off" spellCheck={false} required />
            )}
          </Field>
          <Field label={t('signIn.password')}>
            {(ids) => <Input {...ids} name="password" type="password" autoComplete="current-password" required />}
          </Field>
          <Button type="submit" tone="accent" className="w-full" busy={signIn.isPending || signIn.isSuccess}>
            {t('signIn.go')}
          </Button>
        </form>
      ) : null}
      {signIn.error ? <ProblemNotice error={signIn.error} /> : null}
      <p className="text-muted text-sm">{t('signIn.noAccount')}</p>
    </div>
  );
}
