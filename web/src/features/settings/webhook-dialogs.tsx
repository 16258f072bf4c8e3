import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import type { Webhook } from '@/api/types';
import { moment, span } from '@/lib/time';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input, Select } from '@/ui/field';
import { ProblemNotice } from '@/ui/problem';
import { NewCredentialDialog } from './new-credential-dialog';
import { WebhookSecret } from './new-webhook';

interface Props {
  webhook: Webhook;
  onClose: () => void;
}

const DAY = 86_400;
const OVERLAPS = [3600, DAY, 7 * DAY];

/** Rotates the secret; messages are also signed with the old one for a while. */
export function RotateWebhook({ webhook, onClose }: Props) {
  const { t, i18n } = useTranslation();
  const [overlap, setOverlap] = useState(DAY);
  const rotate = useMutation({
    gcTime: 0,
    mutationFn: () =>
      responseBody(
        api.POST('/v1/webhooks/{webhook}/rotate', {
          params: { path: { webhook: webhook.id } },
          body: { overlap_seconds: overlap },
        }),
      ),
  });
  return (
    <NewCredentialDialog
      title={t('webhooks.rotateTitle')}
      about={webhook.url}
      make={rotate}
      action={t('webhooks.makeSecret')}
      onAction={() => rotate.mutate()}
      onClose={onClose}
    >
      {rotate.data ? (
        <WebhookSecret
          secret={rotate.data.secret}
          note={t('webhooks.oldUntil', { time: moment(rotate.data.old_until, i18n.language) })}
        />
      ) : (
        <div className="space-y-4">
          <Field label={t('webhooks.overlap')} hint={t('webhooks.overlapHint')}>
            {(ids) => (
              <Select {...ids} value={overlap} onChange={(event) => setOverlap(Number(event.target.value))}>
                <option value={0}>{t('webhooks.noOverlap')}</option>
                {OVERLAPS.map((seconds) => (
                  <option key={seconds} value={seconds}>
                    {span(seconds, i18n.language)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          {rotate.error ? <ProblemNotice error={rotate.error} /> : null}
        </div>
      )}
    </NewCredentialDialog>
  );
}

export function SwitchOffWebhook({ webhook, onClose }: Props) {
  const { t } = useTranslation();
  const [reason, setReason] = useState('');
  const path = { webhook: webhook.id };
  const body = { enabled: false, reason: reason.trim() || undefined };
  return (
    <ConfirmDialog
      title={t('webhooks.offTitle')}
      about={t('webhooks.offAbout', { url: webhook.url })}
      word={t('webhooks.off')}
      act={() => responseBody(api.PUT('/v1/webhooks/{webhook}/enabled', { params: { path }, body }))}
      onClose={onClose}
    >
      <Field label={t('question.reason')} optional={t('common.optional')}>
        {(ids) => <Input {...ids} value={reason} onChange={(event) => setReason(event.target.value)} />}
      </Field>
    </ConfirmDialog>
  );
}

export function RemoveWebhook({ webhook, onClose }: Props) {
  const { t } = useTranslation();
  const path = { webhook: webhook.id };
  return (
    <ConfirmDialog
      title={t('webhooks.removeTitle')}
      about={t('webhooks.removeAbout', { url: webhook.url })}
      word={t('webhooks.remove')}
      act={() => responseBody(api.DELETE('/v1/webhooks/{webhook}', { params: { path } }))}
      onClose={onClose}
    />
  );
}

interface ConfirmProps {
  title: string;
  about: string;
  word: string;
  act: () => Promise<unknown>;
  onClose: () => void;
  children?: ReactNode;
}

/** Asks for confirmation, then sends the request. */
function ConfirmDialog({ title, about, word, act, onClose, children }: ConfirmProps) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const go = useMutation({
    mutationFn: act,
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: ['webhooks'] });
      onClose();
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={title}
      about={about}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button tone="solidDanger" busy={go.isPending} onClick={() => go.mutate()}>
            {word}
          </Button>
        </>
      }
    >
      {children}
      {go.error ? <ProblemNotice error={go.error} /> : null}
    </Dialog>
  );
}
