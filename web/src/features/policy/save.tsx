import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, attemptKey, taken } from '@/api/client';
import type { Policy } from '@/api/types';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { tell } from '@/ui/tell';
import { Simulate } from './simulate';

const Diff = lazy(() => import('@/ui/editor/diff'));

interface Props {
  policy: Policy;
  text: string;
  onClose: () => void;
  onSaved: (policy: Policy) => void;
}

/** What is about to change, once more, and why. Somebody else's change in between is never overwritten. */
export function SavePolicy({ policy, text, onClose, onSaved }: Props) {
  const { t } = useTranslation();
  const [reason, setReason] = useState('');
  const [key] = useState(attemptKey);
  const save = useMutation({
    mutationFn: () =>
      taken(
        api.PUT('/v1/policy', {
          params: { header: { 'Idempotency-Key': key } },
          body: { text, base: policy.version, reason: reason.trim() || undefined },
        }),
      ),
    onSuccess: (saved) => {
      tell(t('policy.saved'));
      onSaved(saved);
    },
  });
  return (
    <Dialog
      open
      wide
      onOpenChange={(open) => open || onClose()}
      title={t('policy.saveTitle')}
      about={t('policy.saveAbout')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button tone="accent" busy={save.isPending} onClick={() => save.mutate()}>
            {t('policy.save')}
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        <div className="max-h-[40dvh] overflow-auto rounded-lg border">
          <Suspense fallback={<Waiting label={t('common.loading')} />}>
            <Diff before={policy.text} after={text} label={t('policy.changes')} />
          </Suspense>
        </div>
        <Simulate text={text} />
        <Field label={t('question.reason')} optional={t('common.optional')}>
          {(ids) => <Input {...ids} value={reason} onChange={(event) => setReason(event.target.value)} />}
        </Field>
        {save.error ? <ProblemNotice error={save.error} /> : null}
      </div>
    </Dialog>
  );
}
