import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Policy } from '@/api/types';
import { Button } from '@/ui/button';
import { Card, Waiting } from '@/ui/page';
import { CheckedNote, useChecked } from './checked';
import { SavePolicy } from './save';

const Editor = lazy(() => import('@/ui/editor/editor'));

interface Props {
  policy: Policy;
  may: boolean;
  draft?: string;
  /** Whether the active policy differs from the one that the draft is based on. */
  moved: boolean;
  onDraft: (text: string | undefined) => void;
  onMoved: () => void;
}

/** Policy editor. The server checks the text while typing; nothing is active before it is saved. */
export function PolicyText({ policy, may, draft, moved, onDraft, onMoved }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [saving, setSaving] = useState<Policy>();
  const [reason, setReason] = useState('');
  const text = draft ?? policy.text;
  const changed = text !== policy.text;
  const { checked, good, check, again } = useChecked(text);
  return (
    <div className="space-y-4">
      <Card className="overflow-hidden">
        <Suspense fallback={<Waiting rows={12} label={t('common.loading')} />}>
          <div className="max-h-[60dvh] min-h-72 overflow-auto">
            <Editor
              value={text}
              language="toml"
              label={t('policy.textLabel')}
              readOnly={!may}
              onChange={(next) => onDraft(next === policy.text ? undefined : next)}
              check={check}
            />
          </div>
        </Suspense>
        <footer aria-live="polite" className="border-t bg-sunken px-4 py-3">
          <CheckedNote checked={checked} again={again} />
        </footer>
      </Card>
      {may ? (
        <div className="flex flex-wrap items-center gap-2">
          <Button tone="accent" disabled={!changed || !good || moved} onClick={() => setSaving(policy)}>
            {t('policy.review')}
          </Button>
          <Button tone="quiet" disabled={!changed} onClick={() => onDraft(undefined)}>
            {t('policy.discard')}
          </Button>
          {changed ? <span className="text-muted text-sm">{t('policy.unsaved')}</span> : null}
        </div>
      ) : null}
      {saving ? (
        <SavePolicy
          base={saving}
          now={policy}
          text={text}
          reason={reason}
          onReason={setReason}
          onClose={() => setSaving(undefined)}
          onMoved={() => {
            setSaving(undefined);
            onMoved();
          }}
          onSaved={(saved) => {
            cache.setQueryData(['policy'], saved);
            void cache.invalidateQueries({ queryKey: ['policy-versions'] });
            onDraft(undefined);
            setReason('');
            setSaving(undefined);
          }}
        />
      ) : null}
    </div>
  );
}
