import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { people } from '@/api/people';
import { meQuery } from '@/api/queries';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Card, Section } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { showToast } from '@/ui/show-toast';

const SHORTEST = 12;

/** Account of the signed-in person: name, role, project and password. */
export function MyAccount() {
  const { t } = useTranslation();
  const { data: me } = useQuery(meQuery());
  if (!me) return null;
  return (
    <div className="space-y-8">
      <Card className="flex flex-wrap items-center gap-x-3 gap-y-1 p-4">
        <span className="font-semibold text-lg">{me.display || me.name}</span>
        {me.display ? <span className="text-muted">{me.name}</span> : null}
        <Badge tone="accent">{t(`roles.${me.role}`)}</Badge>
        <span className="text-muted">
          {t('settings.inProject', {
            project: me.projects.find((one) => one.project === me.project)?.name ?? me.project,
          })}
        </span>
      </Card>
      {me.via === 'cookie' && me.password !== 'none' ? <Password first={me.password === 'settable'} /> : null}
    </div>
  );
}

function Password({ first }: { first: boolean }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [short, setShort] = useState(false);
  const change = useMutation({
    gcTime: 0,
    mutationFn: ({ next, old }: { next: string; old?: string }) => people.setPassword(next, old),
    onSuccess: () => {
      showToast(t('settings.passwordSet'));
      void cache.invalidateQueries({ queryKey: ['me'] });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const values = new FormData(form);
    const next = String(values.get('new'));
    setShort(next.length < SHORTEST);
    if (next.length < SHORTEST) return;
    change.mutate({ next, old: String(values.get('old') ?? '') || undefined }, { onSuccess: () => form.reset() });
  };
  return (
    <Section title={t('settings.password')}>
      <Card className="p-4">
        <form onSubmit={submit} className="max-w-sm space-y-4">
          {first ? null : (
            <Field label={t('settings.oldPassword')}>
              {(ids) => <Input {...ids} name="old" type="password" autoComplete="current-password" />}
            </Field>
          )}
          <Field
            label={t('settings.newPassword')}
            hint={t('settings.newPasswordHint', { count: SHORTEST })}
            error={short ? t('form.wrong.minLength', { limit: SHORTEST, count: SHORTEST }) : undefined}
          >
            {(ids) => <Input {...ids} name="new" type="password" autoComplete="new-password" required />}
          </Field>
          <Button type="submit" tone="accent" busy={change.isPending}>
            {t('settings.setPassword')}
          </Button>
          {change.error ? <ProblemNotice error={change.error} /> : null}
        </form>
      </Card>
    </Section>
  );
}
