import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Power } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import type { Policy } from '@/api/types';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { ProblemNotice } from '@/ui/problem';

/** Pauses or resumes approvals for the whole project, with a reason for the audit trail. */
export function PolicySwitch({ policy }: { policy: Policy }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  // The state that the person chose, even if another person changes it meanwhile.
  const [wanted, setWanted] = useState<boolean>();
  const [reason, setReason] = useState('');
  const enabled = wanted ?? !policy.enabled;
  const close = () => setWanted(undefined);
  const change = useMutation({
    mutationFn: () => responseBody(api.PUT('/v1/policy/enabled', { body: { enabled, reason } })),
    onSuccess: (changed) => {
      cache.setQueryData(['policy'], changed);
      close();
      setReason('');
    },
  });
  return (
    <>
      <Button tone={policy.enabled ? 'plain' : 'accent'} onClick={() => setWanted(!policy.enabled)}>
        <Power aria-hidden="true" />
        {!policy.enabled ? t('policy.enable') : t('policy.disable')}
      </Button>
      <Dialog
        open={wanted !== undefined}
        onOpenChange={(open) => open || close()}
        title={enabled ? t('policy.enableTitle') : t('policy.disableTitle')}
        about={enabled ? t('policy.enableAbout') : t('policy.disableAbout')}
        footer={
          <>
            <Button onClick={close}>{t('common.back')}</Button>
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
