import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { policyVersionsQuery } from '@/api/queries';
import type { Policy, PolicyVersion } from '@/api/types';
import { AgentLine } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Card, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { Ago } from '@/ui/time';

const Diff = lazy(() => import('@/ui/editor/diff'));

/** Every text that was in force, each with what it changed. */
export function PolicyHistory({ policy, onUse }: { policy: Policy; onUse: (text: string) => void }) {
  const { t } = useTranslation();
  const { data, error } = useQuery(policyVersionsQuery());
  const [open, setOpen] = useState<string>();
  if (error) return <ProblemNotice error={error} />;
  if (!data) return <Waiting label={t('common.loading')} />;
  const before = (version: PolicyVersion) => data.versions.find((one) => one.version === version.before)?.text ?? '';
  return (
    <Card>
      <ul className="divide-y">
        {data.versions.map((version, at) => {
          const id = `${version.version} ${version.at}`;
          return (
            <li key={id} className="px-4 py-3">
              <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
                <code title={version.version}>{version.version.slice(0, 12)}</code>
                {at === 0 ? <Badge tone="good">{t('policy.inForce')}</Badge> : null}
                <Badge>{t(`policy.source.${version.source}`)}</Badge>
                <span className="min-w-0 flex-1 basis-40 text-muted text-sm">
                  <AgentLine text={version.by.name} /> · <Ago at={version.at} />
                </span>
                <Button size="sm" aria-expanded={open === id} onClick={() => setOpen(open === id ? undefined : id)}>
                  {t('policy.showChanges')}
                </Button>
                {version.text === policy.text ? null : (
                  <Button size="sm" tone="quiet" onClick={() => onUse(version.text)}>
                    {t('policy.use')}
                  </Button>
                )}
              </div>
              {open === id ? (
                <div className="mt-3 max-h-96 overflow-auto rounded-md border">
                  <Suspense fallback={<Waiting label={t('common.loading')} />}>
                    <Diff before={before(version)} after={version.text} label={t('policy.changes')} />
                  </Suspense>
                </div>
              ) : null}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
