import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Ban, Pause, Play } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, attemptKey, taken } from '@/api/client';
import { meQuery } from '@/api/queries';
import type { Session } from '@/api/types';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Textarea } from '@/ui/field';
import { ProblemNotice } from '@/ui/problem';

type Command = 'pause' | 'resume' | 'cancel';

const OVER = ['completed', 'failed', 'cancelled'];

/** Pause, resume, cancel, each with its reason. */
export function Controls({ session }: { session: Session }) {
  const { t } = useTranslation();
  const { data: me } = useQuery(meQuery());
  const [command, setCommand] = useState<Command | null>(null);
  if (OVER.includes(session.status) || (me?.role !== 'admin' && me?.role !== 'operator')) return null;
  return (
    <>
      {session.paused ? (
        <Button onClick={() => setCommand('resume')}>
          <Play aria-hidden="true" />
          {t('session.resume')}
        </Button>
      ) : (
        <Button onClick={() => setCommand('pause')}>
          <Pause aria-hidden="true" />
          {t('session.pause')}
        </Button>
      )}
      <Button tone="danger" onClick={() => setCommand('cancel')}>
        <Ban aria-hidden="true" />
        {t('session.cancel')}
      </Button>
      {command ? <Confirm session={session} command={command} onClose={() => setCommand(null)} /> : null}
    </>
  );
}

function Confirm({ session, command, onClose }: { session: Session; command: Command; onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [reason, setReason] = useState('');
  const [key] = useState(attemptKey);
  const control = useMutation({
    mutationFn: () =>
      taken(
        api.POST('/v1/sessions/{session}/control', {
          params: { path: { session: session.id }, header: { 'Idempotency-Key': key } },
          body: { command, reason: reason.trim() || undefined },
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
      title={t(`session.${command}Title`)}
      about={t(`session.${command}About`)}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button
            tone={command === 'cancel' ? 'solidDanger' : 'accent'}
            busy={control.isPending}
            onClick={() => control.mutate()}
          >
            {t(`session.${command}`)}
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
