import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { api, taken } from '@/api/client';
import type { Role } from '@/api/types';
import { span } from '@/lib/time';
import { Button } from '@/ui/button';
import { CopyBox } from '@/ui/copy';
import { Dialog } from '@/ui/dialog';
import { Field, Input, Select } from '@/ui/field';
import { Notice } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { Standing, standingIn } from './standing';

const ROLES: Role[] = ['agent', 'operator', 'viewer', 'admin'];
const TIMES = [86_400, 2_592_000, 7_776_000, 31_536_000];

export function NewKey({ onClose }: { onClose: () => void }) {
  const { t, i18n } = useTranslation();
  const cache = useQueryClient();
  const id = useId();
  const make = useMutation({
    gcTime: 0,
    mutationFn: (form: FormData) =>
      taken(
        api.POST('/v1/keys', {
          body: {
            ...standingIn(form),
            user: String(form.get('user')).trim() || undefined,
            expires_in_seconds: Number(form.get('time')) || undefined,
          },
        }),
      ),
    onSuccess: () => void cache.invalidateQueries({ queryKey: ['keys'] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    make.mutate(new FormData(event.currentTarget));
  };
  return (
    <Dialog
      open
      once={make.isPending || make.isSuccess}
      onOpenChange={(open) => open || onClose()}
      title={t('keys.newTitle')}
      footer={
        make.data ? (
          <Button tone="accent" onClick={onClose}>
            {t('common.done')}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{t('common.back')}</Button>
            <Button type="submit" form={id} tone="accent" busy={make.isPending}>
              {t('keys.make')}
            </Button>
          </>
        )
      }
    >
      {make.data ? (
        <div className="space-y-3">
          <Notice tone="warn">{t('keys.once')}</Notice>
          <CopyBox label={t('keys.secret')} value={make.data.secret} />
        </div>
      ) : (
        <form id={id} onSubmit={submit} className="space-y-4">
          <Field label={t('keys.user')} hint={t('keys.userHint')}>
            {(ids) => <Input {...ids} name="user" autoComplete="off" required />}
          </Field>
          <Standing roles={ROLES} />
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
          {make.error ? <ProblemNotice error={make.error} /> : null}
        </form>
      )}
    </Dialog>
  );
}
