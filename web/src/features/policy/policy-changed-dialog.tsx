import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { policyTextQuery } from '@/api/policy';
import type { Policy } from '@/api/types';
import { AgentText } from '@/ui/agent-text';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Section, Waiting } from '@/ui/page';
import { ChangedBy } from './changed-by';

const Diff = lazy(() => import('@/ui/editor/diff'));

interface Props {
  policy: Policy;
  /** Version that the draft is based on. */
  base: string;
  /** Text of the draft. */
  text: string;
  onClose: () => void;
  onGoOn: (version: string) => void;
  onDiscard: () => void;
}

/** Shown when the active policy changed after a draft was started: both sets of changes, and how to continue. */
export function PolicyChangedDialog({ policy, base, text, onClose, onGoOn, onDiscard }: Props) {
  const { t } = useTranslation();
  // Keeps the version that was shown, even if it is read again meanwhile.
  const [theirs] = useState(policy);
  const { data: before, isPending } = useQuery(policyTextQuery(base));
  const waiting = <Waiting label={t('common.loading')} />;
  return (
    <Dialog
      open
      wide
      onOpenChange={(open) => open || onClose()}
      title={t('policy.movedTitle')}
      about={t('policy.movedAbout')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button tone="danger" onClick={onDiscard}>
            {t('policy.discardDraft')}
          </Button>
          <Button tone="accent" onClick={() => onGoOn(theirs.version)}>
            {t('policy.continueDraft')}
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        <p className="text-muted text-sm">
          <ChangedBy policy={theirs} />
        </p>
        {theirs.reason ? <AgentText text={theirs.reason} /> : null}
        <Section level={3} title={t('policy.theirChanges')}>
          <div className="max-h-[30dvh] overflow-auto rounded-lg border">
            {isPending ? (
              waiting
            ) : (
              <Suspense fallback={waiting}>
                <Diff before={before ?? ''} after={theirs.text} label={t('policy.theirChanges')} />
              </Suspense>
            )}
          </div>
        </Section>
        <Section level={3} title={t('policy.yourChanges')}>
          <div className="max-h-[30dvh] overflow-auto rounded-lg border">
            <Suspense fallback={waiting}>
              <Diff before={theirs.text} after={text} label={t('policy.yourChanges')} />
            </Suspense>
          </div>
        </Section>
      </div>
    </Dialog>
  );
}
