import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import { grantsQuery, meQuery } from '@/api/queries';
import type { Grant } from '@/api/types';
import { moment } from '@/lib/time';
import { AgentLine } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { More } from '@/ui/more';
import { Card, Empty, Page, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { Ago } from '@/ui/time';
import { Allowed, Where } from './allowed';

/** Standing approvals: what each allows, and a button to revoke it. */
export function Grants({ over, onOver }: { over: boolean; onOver: (over: boolean) => void }) {
  const { t } = useTranslation();
  const query = useInfiniteQuery(grantsQuery(over));
  const { data, error, isPending, refetch } = query;
  const { data: me } = useQuery(meQuery());
  const [leaving, setLeaving] = useState<Grant>();
  const grants = data?.pages.flatMap((page) => page.grants) ?? [];
  const may = me?.role === 'admin' || me?.role === 'operator';
  return (
    <Page
      title={t('nav.grants')}
      about={t('grants.about')}
      actions={
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={over} onChange={(event) => onOver(event.target.checked)} />
          {t('grants.over')}
        </label>
      }
    >
      {error && !data ? <ProblemNotice error={error} again={() => void refetch()} /> : null}
      {isPending ? <Waiting label={t('common.loading')} /> : null}
      {data && grants.length === 0 ? (
        <Empty icon={KeyRound} title={t('grants.none')}>
          <p>{t('grants.noneText')}</p>
        </Empty>
      ) : null}
      {grants.length > 0 ? (
        <Card>
          <ul className="divide-y">
            {grants.map((grant) => (
              <Row
                key={grant.id}
                grant={grant}
                onRevoke={may && grant.in_force ? () => setLeaving(grant) : undefined}
              />
            ))}
          </ul>
        </Card>
      ) : null}
      <More query={query} />
      {leaving ? <Revoke grant={leaving} onClose={() => setLeaving(undefined)} /> : null}
    </Page>
  );
}

function Row({ grant, onRevoke }: { grant: Grant; onRevoke?: () => void }) {
  const { t, i18n } = useTranslation();
  const limits = [
    grant.until ? t('grants.until', { time: moment(grant.until, i18n.language) }) : t('remember.wordsNoEnd'),
    grant.most_uses
      ? t('grants.usesOf', { count: grant.uses, most: grant.most_uses })
      : t('grants.uses', { count: grant.uses }),
    grant.rule ? t('grants.rule', { rule: grant.rule }) : t('grants.noRule'),
  ];
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 py-3.5">
      <div className="min-w-0 flex-1 basis-72 space-y-1">
        <div className="flex flex-wrap items-center gap-2">
          <span className="font-medium">
            <AgentLine text={grant.agent} />
          </span>
          <span className="text-muted">→</span>
          <code className="font-semibold">
            <AgentLine text={grant.tool} />
          </code>
          <Badge tone={grant.covers === 'any' ? 'warn' : 'plain'}>
            {t(`grants.covers.${grant.covers as 'exact'}`, { defaultValue: grant.covers })}
          </Badge>
          {grant.in_force ? null : <Badge>{grant.revoked_at ? t('grants.revoked') : t('grants.ended')}</Badge>}
        </div>
        <Allowed grant={grant} />
        <p className="text-muted text-sm">
          <Where session={grant.session} />
          {' · '}
          <AgentLine text={limits.join(' · ')} />
        </p>
        <p className="text-muted text-sm">
          {t('grants.givenBy', { name: grant.given_by.name })} <Ago at={grant.given_at} />
          {' · '}
          <Link
            to="/inbox/$interaction"
            params={{ interaction: grant.interaction }}
            className="text-accent-ink underline underline-offset-2"
          >
            {t('grants.question')}
          </Link>
        </p>
      </div>
      {onRevoke ? (
        <Button size="sm" tone="danger" onClick={onRevoke}>
          {t('grants.revoke')}
        </Button>
      ) : null}
    </li>
  );
}

function Revoke({ grant, onClose }: { grant: Grant; onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => responseBody(api.DELETE('/v1/grants/{grant}', { params: { path: { grant: grant.id } } })),
    onSuccess: onClose,
    // Also after a refusal, because another person may have revoked the grant first.
    onSettled: () => cache.invalidateQueries({ queryKey: ['grants'] }),
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('grants.revokeTitle')}
      about={t('grants.revokeAbout', { agent: grant.agent, tool: grant.tool })}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button tone="solidDanger" busy={revoke.isPending} onClick={() => revoke.mutate()}>
            {t('grants.revoke')}
          </Button>
        </>
      }
    >
      {revoke.error ? <ProblemNotice error={revoke.error} /> : null}
    </Dialog>
  );
}
