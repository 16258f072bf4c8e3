import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, attemptKey, responseBody } from '@/api/client';
import type { Session } from '@/api/types';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Textarea } from '@/ui/field';
import { ProblemNotice } from '@/ui/problem';

export type Command = 'pause' | 'resume' | 'cancel' | 'retry_step' | 'skip_step' | 'approve_step';

interface Props {
  session: Session;
  command: Command;
  step?: string;
  onClose: () => void;
}

/** Confirms a command and takes a reason for the audit trail. */
export function CommandDialog({ session, command, step, onClose }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [reason, setReason] = useState('');
  const [key] = useState(attemptKey);
  const control = useMutation({
    mutationFn: () =>
      responseBody(
        api.POST('/v1/sessions/{session}/control', {
          params: { path: { session: session.id }, header: { 'Idempotency-Key': key } },
          body: { command, step, reason: reason.trim() || undefined },
        }),
      ),
    onSuccess: (changed) => {
      cache.setQueryData(['session', session.id], (now: Session | undefined) => ({ ...now, ...changed }));
      void cache.invalidateQueries({ queryKey: ['session', session.id] });
      onClose();
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t(`session.commands.${command}.title`)}
      about={t(`session.commands.${command}.about`)}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button
            tone={command === 'cancel' ? 'solidDanger' : 'accent'}
            busy={control.isPending}
            onClick={() => control.mutate()}
          >
            {t(`session.commands.${command}.name`)}
          </Button>
        </>
      }
    >
      <Field label={t('question.reason')} optional={t('common.optional')}>
        {(ids) => <Textarea {...ids} value={reason} onChange={(event) => setReason(event.target.value)} />}
      </Field>
      {control.error ? (
        <div className="mt-4">
          <ProblemNotice error={control.error} />
        </div>
      ) : null}
    </Dialog>
  );
}
