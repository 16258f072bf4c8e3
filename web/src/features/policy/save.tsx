import { useMutation } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, attemptKey, responseBody } from '@/api/client';
import { asProblem } from '@/api/problem';
import type { Policy } from '@/api/types';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Notice, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { showToast } from '@/ui/show-toast';
import { Simulate } from './simulate';

const Diff = lazy(() => import('@/ui/editor/diff'));

interface Props {
  /** Policy that was active when the dialog opened: the diff is against it, and only it is replaced. */
  base: Policy;
  /** Currently active policy. */
  now: Policy;
  text: string;
  reason: string;
  onReason: (reason: string) => void;
  onClose: () => void;
  onMoved: () => void;
  onSaved: (policy: Policy) => void;
}

/** Confirms the changes and takes a reason. A change by another person in between is never overwritten. */
export function SavePolicy({ base, now, text, reason, onReason, onClose, onMoved, onSaved }: Props) {
  const { t } = useTranslation();
  const [key, setKey] = useState(attemptKey);
  const save = useMutation({
    mutationFn: (key: string) =>
      responseBody(
        api.PUT('/v1/policy', {
          params: { header: { 'Idempotency-Key': key } },
          body: { text, base: base.version, reason: reason.trim() || undefined },
        }),
      ),
    onSuccess: (saved) => {
      showToast(t('policy.saved'));
      onSaved(saved);
    },
  });
  const refused = save.error ? asProblem(save.error).code === 'policy_moved' : false;
  const moved = refused || (now.version !== base.version && now.text !== text);
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
          <Button tone="accent" busy={save.isPending} disabled={moved} onClick={() => save.mutate(key)}>
            {t('policy.save')}
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        <div className="max-h-[40dvh] overflow-auto rounded-lg border">
          <Suspense fallback={<Waiting label={t('common.loading')} />}>
            <Diff before={base.text} after={text} label={t('policy.changes')} />
          </Suspense>
        </div>
        <Simulate text={text} />
        <Field label={t('question.reason')} optional={t('common.optional')}>
          {(ids) => (
            <Input
              {...ids}
              value={reason}
              onChange={(event) => {
                onReason(event.target.value);
                // A different reason is a new attempt with a new idempotency key.
                setKey(attemptKey());
              }}
            />
          )}
        </Field>
        {moved ? (
          <Notice tone="warn" icon={TriangleAlert} role="alert" title={t('problems.policy_moved')}>
            <Button size="sm" className="mt-2" onClick={onMoved}>
              {t('policy.look')}
            </Button>
          </Notice>
        ) : null}
        {save.error && !moved ? <ProblemNotice error={save.error} /> : null}
      </div>
    </Dialog>
  );
}
