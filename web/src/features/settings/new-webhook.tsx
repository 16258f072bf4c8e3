import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import type { WebhookBody } from '@/api/types';
import { CopyBox } from '@/ui/copy';
import { Field, Input, Select } from '@/ui/field';
import { Notice } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { NewCredentialDialog } from './new-credential-dialog';

/** Dialog for a new webhook: address and events. Its secret is shown once. */
export function NewWebhook({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const id = useId();
  const [about, setAbout] = useState<'events' | 'answers'>('events');
  const make = useMutation({
    gcTime: 0,
    mutationFn: (body: WebhookBody) => responseBody(api.POST('/v1/webhooks', { body })),
    onSuccess: () => void cache.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    make.mutate(bodyOf(new FormData(event.currentTarget)));
  };
  return (
    <NewCredentialDialog
      title={t('webhooks.newTitle')}
      make={make}
      action={t('webhooks.make')}
      onAction={id}
      onClose={onClose}
    >
      {make.data ? (
        <WebhookSecret secret={make.data.secret} />
      ) : (
        <form id={id} onSubmit={submit} className="space-y-4">
          <Field label={t('webhooks.url')} hint={t('webhooks.urlHint')}>
            {(ids) => (
              <Input
                {...ids}
                name="url"
                type="url"
                autoComplete="off"
                placeholder="https://"
                maxLength={2000}
                required
              />
            )}
          </Field>
          <Field label={t('webhooks.sends')}>
            {(ids) => (
              <Select {...ids} value={about} onChange={(event) => setAbout(event.target.value as 'events' | 'answers')}>
                <option value="events">{t('webhooks.sendsEvents')}</option>
                <option value="answers">{t('webhooks.sendsAnswers')}</option>
              </Select>
            )}
          </Field>
          {about === 'events' ? <WhichEvents /> : <WhoseAnswers />}
          <Field label={t('webhooks.description')} optional={t('common.optional')}>
            {(ids) => <Input {...ids} name="description" autoComplete="off" />}
          </Field>
          <label className="flex items-center gap-2">
            <input type="checkbox" name="enabled" defaultChecked />
            {t('webhooks.active')}
          </label>
          {make.error ? <ProblemNotice error={make.error} /> : null}
        </form>
      )}
    </NewCredentialDialog>
  );
}

function WhichEvents() {
  const { t } = useTranslation();
  return (
    <>
      <Field label={t('webhooks.types')} optional={t('common.optional')} hint={t('webhooks.typesHint')}>
        {(ids) => (
          <Input
            {...ids}
            name="events"
            className="font-mono text-sm!"
            autoComplete="off"
            placeholder="interaction.* session.failed"
          />
        )}
      </Field>
      <Field label={t('webhooks.agent')} optional={t('common.optional')}>
        {(ids) => <Input {...ids} name="agent" autoComplete="off" />}
      </Field>
      <Field label={t('webhooks.session')} optional={t('common.optional')}>
        {(ids) => (
          <Input {...ids} name="session" className="font-mono text-sm!" autoComplete="off" placeholder="ses_…" />
        )}
      </Field>
    </>
  );
}

function WhoseAnswers() {
  const { t } = useTranslation();
  return (
    <Field label={t('webhooks.answersAgent')} hint={t('webhooks.answersHint')}>
      {(ids) => <Input {...ids} name="answers_of" autoComplete="off" required />}
    </Field>
  );
}

/** Sends only the fields that were filled in, because an absent field has its own meaning. */
function bodyOf(form: FormData): WebhookBody {
  const said = (name: string) => String(form.get(name) ?? '').trim() || undefined;
  return {
    url: said('url') ?? '',
    description: said('description'),
    events: said('events')?.split(/[\s,]+/u),
    agent: said('agent'),
    session: said('session'),
    answers_of: said('answers_of'),
    enabled: form.has('enabled'),
  };
}

/** The signing secret, shown once. */
export function WebhookSecret({ secret, note }: { secret: string; note?: string }) {
  const { t } = useTranslation();
  return (
    <div className="space-y-3">
      <Notice tone="warn">{t('webhooks.once')}</Notice>
      <CopyBox label={t('webhooks.secret')} value={secret} />
      <p className="text-muted text-sm">{note ?? t('webhooks.verify')}</p>
    </div>
  );
}
