import { useQueryClient } from '@tanstack/react-query';
import { CircleCheck } from 'lucide-react';
import { lazy, Suspense, useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, taken } from '@/api/client';
import { asProblem } from '@/api/problem';
import type { Finding, Policy } from '@/api/types';
import { Button } from '@/ui/button';
import { Card, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { Findings } from './findings';
import { SavePolicy } from './save';

const Editor = lazy(() => import('@/ui/editor/editor'));

interface Props {
  policy: Policy;
  may: boolean;
  draft?: string;
  onDraft: (text: string | undefined) => void;
}

/** The policy as text. The server reads it as one types; nothing is in force before it is saved. */
export function PolicyText({ policy, may, draft, onDraft }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [findings, setFindings] = useState<Finding[]>([]);
  const [unread, setUnread] = useState<unknown>();
  const [saving, setSaving] = useState(false);
  const text = draft ?? policy.text;
  const changed = text !== policy.text;
  const check = useCallback(async (next: string) => {
    try {
      const found = await taken(api.POST('/v1/policy/check', { body: { text: next } }));
      setFindings(found.findings);
      setUnread(undefined);
      return found.findings.map((finding) => ({
        line: finding.line,
        column: finding.column,
        severity: finding.severity === 'error' ? ('error' as const) : ('warning' as const),
        message: finding.message,
      }));
    } catch (error) {
      setUnread(asProblem(error));
      return [];
    }
  }, []);
  const errors = findings.filter((finding) => finding.severity === 'error').length;
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
          {findings.length > 0 ? (
            <Findings findings={findings} />
          ) : (
            <p className="flex items-center gap-2 text-good-ink text-sm">
              <CircleCheck aria-hidden="true" className="size-4" />
              {t('policy.good')}
            </p>
          )}
        </footer>
      </Card>
      {unread ? <ProblemNotice error={unread} /> : null}
      {may ? (
        <div className="flex flex-wrap items-center gap-2">
          <Button tone="accent" disabled={!changed || errors > 0} onClick={() => setSaving(true)}>
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
          policy={policy}
          text={text}
          onClose={() => setSaving(false)}
          onSaved={(saved) => {
            cache.setQueryData(['policy'], saved);
            void cache.invalidateQueries({ queryKey: ['policy-versions'] });
            onDraft(undefined);
            setSaving(false);
          }}
        />
      ) : null}
    </div>
  );
}
