import { useQuery } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { policyQuery } from '@/api/policy';
import { meQuery } from '@/api/queries';
import type { Policy as PolicyView } from '@/api/types';
import { useDraft } from '@/lib/draft';
import { AgentText } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Notice, Page, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { PageTabs } from '@/ui/tabs';
import { ChangedBy } from './changed-by';
import { Explain } from './explain';
import { Floor } from './floor';
import { PolicyHistory } from './history';
import { PolicyChangedDialog } from './policy-changed-dialog';
import { RefusedFile } from './refused-file';
import { ReplaceDraft } from './replace';
import { PolicySwitch } from './switch';
import { PolicyText } from './text';

/** A draft, and the policy version that it is based on. */
type PolicyDraft = { text: string; base: string } | null;

const NO_DRAFT: PolicyDraft = null;

type Tab = 'text' | 'explain' | 'history';

/** The policy page. */
export function Policy({ tab, onTab }: { tab: Tab; onTab: (tab: Tab) => void }) {
  const { t } = useTranslation();
  const { data: policy, error, refetch } = useQuery(policyQuery());
  const { data: me } = useQuery(meQuery());
  const [kept, setDraft] = useDraft<PolicyDraft>(me ? `${me.name} ${me.project} policy` : undefined, NO_DRAFT);
  const draft = kept?.text;
  const write = (text?: string) =>
    setDraft((now) => (text === undefined ? NO_DRAFT : { text, base: now?.base ?? policy?.version ?? '' }));
  const [looking, setLooking] = useState(false);
  const [other, setOther] = useState<string>();
  const moved = policy !== undefined && kept !== null && kept.base !== policy.version && kept.text !== policy.text;
  const may = me?.role === 'admin';
  const look = async () => {
    const { data: now } = await refetch();
    setLooking(now !== undefined && now.version !== kept?.base);
  };
  const use = (text: string) => {
    if (policy) setDraft({ text, base: policy.version });
    setOther(undefined);
    onTab('text');
  };
  return (
    <Page
      title={t('nav.policy')}
      about={t('policy.about')}
      actions={policy && may ? <PolicySwitch policy={policy} /> : null}
    >
      {error && !policy ? <ProblemNotice error={error} again={() => void refetch()} /> : null}
      {!policy && !error ? <Waiting rows={10} label={t('common.loading')} /> : null}
      {policy ? (
        <>
          <State policy={policy} />
          <PageTabs
            label={t('nav.policy')}
            value={tab}
            onChange={onTab}
            tabs={[
              ['text', t('policy.text')],
              ['explain', t('policy.explain')],
              ['history', t('policy.history')],
            ]}
          />
          {moved ? (
            <Notice tone="warn" icon={TriangleAlert} className="mb-4">
              <p>{t('policy.moved')}</p>
              <Button size="sm" className="mt-2" onClick={() => setLooking(true)}>
                {t('policy.look')}
              </Button>
            </Notice>
          ) : null}
          {tab === 'text' ? (
            <PolicyText
              policy={policy}
              may={may}
              draft={draft}
              moved={moved}
              onDraft={write}
              onMoved={() => void look()}
            />
          ) : null}
          {tab === 'explain' ? <Explain policy={policy} draft={draft === policy.text ? undefined : draft} /> : null}
          {tab === 'history' ? (
            <PolicyHistory
              policy={policy}
              may={may}
              onUse={(text) => (draft === undefined || draft === text ? use(text) : setOther(text))}
            />
          ) : null}
          {other === undefined ? null : (
            <ReplaceDraft onClose={() => setOther(undefined)} onReplace={() => use(other)} />
          )}
          {looking && moved && kept ? (
            <PolicyChangedDialog
              policy={policy}
              base={kept.base}
              text={kept.text}
              onClose={() => setLooking(false)}
              onGoOn={(version) => {
                setDraft({ text: kept.text, base: version });
                setLooking(false);
              }}
              onDiscard={() => {
                setDraft(NO_DRAFT);
                setLooking(false);
              }}
            />
          ) : null}
        </>
      ) : null}
    </Page>
  );
}

function State({ policy }: { policy: PolicyView }) {
  const { t } = useTranslation();
  return (
    <div className="mb-5 space-y-3">
      <p className="flex flex-wrap items-center gap-2 text-muted text-sm">
        <Badge tone={policy.enabled ? 'good' : 'danger'}>{policy.enabled ? t('policy.on') : t('policy.off')}</Badge>
        <Badge>{t(`policy.source.${policy.source}`)}</Badge>
        <code title={policy.version}>{policy.version.slice(0, 12)}</code>
        <ChangedBy policy={policy} />
      </p>
      {policy.enabled ? null : (
        <Notice tone="danger" icon={TriangleAlert} title={t('policy.offTitle')}>
          {policy.reason ? <AgentText text={policy.reason} /> : null}
        </Notice>
      )}
      {policy.refused_file ? <RefusedFile file={policy.refused_file} title={t('policy.refusedFile')} /> : null}
      {policy.differs ? (
        <Notice tone="danger" icon={TriangleAlert} title={t('policy.differs.title')}>
          {t(policy.differs.part === 'floor' ? 'policy.differs.floor' : 'policy.differs.policy', {
            here: policy.differs.here?.slice(0, 12) ?? t('policy.differs.none'),
            inForce: policy.differs.in_force?.slice(0, 12) ?? t('policy.differs.none'),
          })}
        </Notice>
      ) : null}
      {policy.floor ? <Floor floor={policy.floor} /> : null}
    </div>
  );
}
