import { useQuery } from '@tanstack/react-query';
import { Bot, Play, Workflow } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { agentsQuery, flowsQuery, meQuery } from '@/api/queries';
import type { Definition } from '@/api/types';
import { newest } from '@/model/definitions';
import { AgentLine } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Card, Empty, Page, Section, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { Start, type Startable } from './start';

/** The agents and flows that this server runs itself, each ready to be started. */
export function Agents({ onStarted }: { onStarted: (session: string) => void }) {
  const { t } = useTranslation();
  const agents = useQuery(agentsQuery());
  const flows = useQuery(flowsQuery());
  const { data: me } = useQuery(meQuery());
  const [starting, setStarting] = useState<Startable>();
  const may = me?.role === 'admin' || me?.role === 'operator';
  const error = agents.error ?? flows.error;
  const none = agents.data?.agents.length === 0 && flows.data?.flows.length === 0;
  return (
    <Page title={t('agents.title')} about={t('agents.about')}>
      {error ? <ProblemNotice error={error} again={() => void agents.refetch()} /> : null}
      {agents.isPending || flows.isPending ? <Waiting label={t('common.loading')} /> : null}
      {none ? (
        <Empty icon={Bot} title={t('agents.none')}>
          <p>{t('agents.noneText')}</p>
          <pre className="overflow-x-auto rounded-lg border bg-sunken p-4 text-left text-ink text-sm">
            holdpoint serve --agents agents/ --flows flows/
          </pre>
        </Empty>
      ) : null}
      <div className="space-y-8">
        {agents.data?.agents.length ? (
          <Section title={t('agents.agents')}>
            <Definitions
              list={agents.data.agents}
              kind="agent"
              onStart={may ? (definition) => setStarting({ kind: 'agent', definition }) : undefined}
            />
          </Section>
        ) : null}
        {flows.data?.flows.length ? (
          <Section title={t('agents.flows')}>
            <Definitions
              list={flows.data.flows}
              kind="flow"
              onStart={may ? (definition) => setStarting({ kind: 'flow', definition }) : undefined}
            />
          </Section>
        ) : null}
      </div>
      {starting ? <Start what={starting} onClose={() => setStarting(undefined)} onStarted={onStarted} /> : null}
    </Page>
  );
}

interface ListProps {
  list: Definition[];
  kind: 'agent' | 'flow';
  onStart?: (definition: Definition) => void;
}

function Definitions({ list, kind, onStart }: ListProps) {
  const { t } = useTranslation();
  const Icon = kind === 'agent' ? Bot : Workflow;
  return (
    <Card>
      <ul className="divide-y">
        {newest(list).map(({ latest, versions }) => (
          <li key={latest.name} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3.5">
            <Icon aria-hidden="true" className="size-5 shrink-0 text-muted" strokeWidth={1.6} />
            <div className="min-w-0 flex-1 basis-60">
              <div className="flex flex-wrap items-center gap-2">
                <span className="font-medium">
                  <AgentLine text={latest.name} />
                </span>
                <Badge>
                  <AgentLine text={latest.version} />
                </Badge>
                {versions > 1 ? (
                  <span className="text-muted text-sm">{t('agents.versions', { count: versions })}</span>
                ) : null}
                {latest.retired_at ? <Badge tone="warn">{t('agents.retired')}</Badge> : null}
              </div>
              {latest.description ? (
                <p className="text-muted">
                  <AgentLine text={latest.description} />
                </p>
              ) : null}
            </div>
            {onStart && !latest.retired_at ? (
              <Button size="sm" aria-label={t('agents.startOf', { name: latest.name })} onClick={() => onStart(latest)}>
                <Play aria-hidden="true" />
                {t('agents.start')}
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
    </Card>
  );
}
