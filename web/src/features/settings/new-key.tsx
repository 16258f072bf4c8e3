import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import { asProblem } from '@/api/problem';
import type { KeyBody, Role } from '@/api/types';
import { span } from '@/lib/time';
import { Button } from '@/ui/button';
import { CopyBox } from '@/ui/copy';
import { Field, Input, Select } from '@/ui/field';
import { Notice } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { NewCredentialDialog } from './new-credential-dialog';
import { RoleAndGroups, readRoleAndGroups } from './role-and-groups';

const ROLES: Role[] = ['agent', 'operator', 'viewer', 'admin'];
const TIMES = [86_400, 2_592_000, 7_776_000, 31_536_000];

export function NewKey({ onClose }: { onClose: () => void }) {
  const { t, i18n } = useTranslation();
  const cache = useQueryClient();
  const id = useId();
  const make = useMutation({
    gcTime: 0,
    mutationFn: (body: KeyBody) => responseBody(api.POST('/v1/keys', { body })),
    onSuccess: () => void cache.invalidateQueries({ queryKey: ['keys'] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim() || undefined;
    make.mutate({
      ...readRoleAndGroups(form),
      user: text('user'),
      client: text('client'),
      root: text('root'),
      expires_in_seconds: Number(form.get('time')) || undefined,
    });
  };
  return (
    <NewCredentialDialog title={t('keys.newTitle')} make={make} action={t('keys.make')} onAction={id} onClose={onClose}>
      {make.data ? (
        <div className="space-y-3">
          <Notice tone="warn">{t('keys.once')}</Notice>
          <CopyBox label={t('keys.secret')} value={make.data.secret} />
        </div>
      ) : (
        // An error belongs to the values that were sent, so any change clears it.
        <form id={id} onSubmit={submit} onChange={() => make.isError && make.reset()} className="space-y-4">
          <Field label={t('keys.user')} hint={t('keys.userHint')}>
            {(ids) => <Input {...ids} name="user" autoComplete="off" required />}
          </Field>
          <RoleAndGroups roles={ROLES} />
          <Field label={t('keys.client')} optional={t('common.optional')} hint={t('keys.clientHint')}>
            {(ids) => <Input {...ids} name="client" autoComplete="off" placeholder="claude-code" />}
          </Field>
          <Field label={t('keys.root')} optional={t('common.optional')} hint={t('keys.rootHint')}>
            {(ids) => <Input {...ids} name="root" autoComplete="off" placeholder="/srv/app" />}
          </Field>
          <Field label={t('keys.time')}>
            {(ids) => (
              <Select {...ids} name="time">
                <option value="">{t('remember.noEnd')}</option>
                {TIMES.map((seconds) => (
                  <option key={seconds} value={seconds}>
                    {span(seconds, i18n.language)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          {make.error ? <Refused error={make.error} body={make.variables} join={make.mutate} /> : null}
        </form>
      )}
    </NewCredentialDialog>
  );
}

/** Error of key creation. If a person of the project has the name, offers to create the key for them. */
function Refused({ error, body, join }: { error: unknown; body: KeyBody; join: (body: KeyBody) => void }) {
  const { t } = useTranslation();
  const { code, body: problem } = asProblem(error);
  const joinable = code === 'name_taken' && problem.errors?.some((one) => one.pointer === '/join_account');
  if (!joinable) return <ProblemNotice error={error} />;
  return (
    <Notice tone="warn" role="alert" title={t('keys.isPerson', { name: body.user })}>
      <Button size="sm" className="mt-2" onClick={() => join({ ...body, join_account: true })}>
        {t('keys.join', { name: body.user })}
      </Button>
    </Notice>
  );
}
