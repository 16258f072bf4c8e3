import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Power } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, taken } from '@/api/client';
import type { Policy } from '@/api/types';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { ProblemNotice } from '@/ui/problem';

/** Switches asking on or off for the whole project, with a reason for the record. */
export function PolicySwitch({ policy }: { policy: Policy }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const enabled = !policy.enabled;
  const change = useMutation({
    mutationFn: () => taken(api.PUT('/v1/policy/enabled', { body: { enabled, reason } })),
    onSuccess: (changed) => {
      cache.setQueryData(['policy'], changed);
      setOpen(false);
      setReason('');
    },
  });
  return (
    <>
      <Button tone={enabled ? 'accent' : 'plain'} onClick={() => setOpen(true)}>
        <Power aria-hidden="true" />
        {enabled ? t('policy.enable') : t('policy.disable')}
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={enabled ? t('policy.enableTitle') : t('policy.disableTitle')}
        about={enabled ? t('policy.enableAbout') : t('policy.disableAbout')}
        footer={
          <>
            <Button onClick={() => setOpen(false)}>{t('common.back')}</Button>
            <Button
              tone={enabled ? 'accent' : 'solidDanger'}
              busy={change.isPending}
              disabled={reason.trim() === ''}
              onClick={() => change.mutate()}
            >
              {enabled ? t('policy.enable') : t('policy.disable')}
            </Button>
          </>
        }
      >
        <Field label={t('question.reason')} hint={t('policy.recorded')}>
          {(ids) => <Input {...ids} value={reason} onChange={(event) => setReason(event.target.value)} />}
        </Field>
        {change.error ? (
          <div className="mt-4">
            <ProblemNotice error={change.error} />
          </div>
        ) : null}
      </Dialog>
    </>
  );
}
