import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { policyTextQuery, policyVersionsQuery } from '@/api/policy';
import type { Policy, PolicyVersion } from '@/api/types';
import { AgentLine, AgentText } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { More } from '@/ui/more';
import { Card, Empty, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { Ago } from '@/ui/time';

const Diff = lazy(() => import('@/ui/editor/diff'));

interface Props {
  policy: Policy;
  may: boolean;
  onUse: (text: string) => void;
}

/** Policy history: author, reason and diff of each change. */
export function PolicyHistory({ policy, may, onUse }: Props) {
  const { t } = useTranslation();
  const query = useInfiniteQuery(policyVersionsQuery(`${policy.version} ${policy.changed_at}`));
  const { data, error, refetch } = query;
  const [open, setOpen] = useState<number>();
  if (error && !data) return <ProblemNotice error={error} again={() => void refetch()} />;
  if (!data) return <Waiting label={t('common.loading')} />;
  const changes = data.pages.flatMap((page) => page.versions);
  if (changes.length === 0) return <Empty icon={History} title={t('policy.noHistory')} />;
  const inForce = changes.find((change) => change.version === policy.version)?.number;
  return (
    <>
      <Card>
        <ul className="divide-y">
          {changes.map((change) => (
            <Change
              key={change.number}
              change={change}
              inForce={change.number === inForce}
              open={change.number === open}
              onOpen={() => setOpen(change.number === open ? undefined : change.number)}
              onUse={may && change.text !== policy.text ? () => onUse(change.text) : undefined}
            />
          ))}
        </ul>
      </Card>
      {error ? <ProblemNotice error={error} /> : null}
      <More query={query} />
    </>
  );
}

interface ChangeProps {
  change: PolicyVersion;
  inForce: boolean;
  open: boolean;
  onOpen: () => void;
  onUse?: () => void;
}

function Change({ change, inForce, open, onOpen, onUse }: ChangeProps) {
  const { t } = useTranslation();
  return (
    <li className="px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <code title={change.version}>{change.version.slice(0, 12)}</code>
        {inForce ? <Badge tone="good">{t('policy.inForce')}</Badge> : null}
        <Badge>{t(`policy.source.${change.source}`)}</Badge>
        <span className="min-w-0 flex-1 basis-40 text-muted text-sm">
          <AgentLine text={change.by.name} /> · <Ago at={change.at} />
        </span>
        <Button size="sm" aria-expanded={open} onClick={onOpen}>
          {t('policy.showChanges')}
        </Button>
        {onUse ? (
          <Button size="sm" tone="quiet" onClick={onUse}>
            {t('policy.use')}
          </Button>
        ) : null}
      </div>
      {change.reason ? <AgentText className="mt-1 text-sm" text={change.reason} /> : null}
      {open ? <WhatChanged change={change} /> : null}
    </li>
  );
}

/** Diff against the previous text, which may not be loaded. */
function WhatChanged({ change }: { change: PolicyVersion }) {
  const { t } = useTranslation();
  const { before } = change;
  const { data, error, refetch } = useQuery({ ...policyTextQuery(before ?? ''), enabled: typeof before === 'string' });
  const waiting = <Waiting label={t('common.loading')} />;
  if (error) return <ProblemNotice error={error} again={() => void refetch()} />;
  return (
    <div className="mt-3 max-h-96 overflow-auto rounded-md border">
      {before && data === undefined ? (
        waiting
      ) : (
        <Suspense fallback={waiting}>
          <Diff before={data ?? ''} after={change.text} label={t('policy.changes')} />
        </Suspense>
      )}
    </div>
  );
}
