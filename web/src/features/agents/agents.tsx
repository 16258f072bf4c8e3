import { useQuery } from '@tanstack/react-query';
import { Bot, Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { agentsQuery, flowsQuery, meQuery } from '@/api/queries';
import { Button } from '@/ui/button';
import { Empty, Page, Section, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { Add, type NewDefinition } from './add';
import { Definitions } from './list';
import { Start, type Startable } from './start';

/** The hosted agents and flows, each with a button that starts a session. */
export function Agents({ onStarted }: { onStarted: (session: string) => void }) {
  const { t } = useTranslation();
  const agents = useQuery(agentsQuery());
  const flows = useQuery(flowsQuery());
  const { data: me } = useQuery(meQuery());
  const [starting, setStarting] = useState<Startable>();
  const [draft, setDraft] = useState<NewDefinition>();
  const may = me?.role === 'admin' || me?.role === 'operator';
  const onDraft = me?.role === 'admin' ? setDraft : undefined;
  const failed = [agents, flows].filter(({ error }) => error);
  const none = agents.data?.length === 0 && flows.data?.length === 0;
  const lists = [
    { kind: 'agent', title: t('agents.agents'), list: agents.data ?? [] },
    { kind: 'flow', title: t('agents.flows'), list: flows.data ?? [] },
  ] as const;
  return (
    <Page
      title={t('agents.title')}
      about={t('agents.about')}
      actions={
        onDraft ? (
          <>
            <Button onClick={() => onDraft({ kind: 'agent' })}>
              <Plus aria-hidden="true" />
              {t('agents.newAgent')}
            </Button>
            <Button onClick={() => onDraft({ kind: 'flow' })}>
              <Plus aria-hidden="true" />
              {t('agents.newFlow')}
            </Button>
          </>
        ) : null
      }
    >
      {failed[0] ? (
        <ProblemNotice
          error={failed[0].error}
          again={() => {
            for (const one of failed) void one.refetch();
          }}
        />
      ) : null}
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
        {lists.map(({ kind, title, list }) =>
          list.length > 0 ? (
            <Section key={kind} title={title}>
              <Definitions
                list={list}
                kind={kind}
                onStart={may ? (definition) => setStarting({ kind, definition }) : undefined}
                onDraft={onDraft}
              />
            </Section>
          ) : null,
        )}
      </div>
      {starting ? <Start what={starting} onClose={() => setStarting(undefined)} onStarted={onStarted} /> : null}
      {draft ? <Add draft={draft} onClose={() => setDraft(undefined)} /> : null}
    </Page>
  );
}
