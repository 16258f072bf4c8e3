import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import { keysQuery } from '@/api/queries';
import type { Key } from '@/api/types';
import { moment } from '@/lib/time';
import { AgentLine } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { ProblemNotice } from '@/ui/problem';
import { Ago } from '@/ui/time';
import { ListFrame } from './list-frame';
import { NewKey } from './new-key';

/** Keys of agents and services. A key is shown once, when it is created. */
export function Keys() {
  const { t } = useTranslation();
  const query = useQuery(keysQuery());
  const [making, setMaking] = useState(false);
  const [leaving, setLeaving] = useState<Key>();
  return (
    <ListFrame
      about={t('keys.about')}
      action={t('keys.new')}
      onNew={() => setMaking(true)}
      query={query}
      entries={query.data?.keys}
      row={(key) => <Row key={key.id} item={key} onRevoke={() => setLeaving(key)} />}
    >
      {making ? <NewKey onClose={() => setMaking(false)} /> : null}
      {leaving ? <Revoke item={leaving} onClose={() => setLeaving(undefined)} /> : null}
    </ListFrame>
  );
}

function Row({ item, onRevoke }: { item: Key; onRevoke: () => void }) {
  const { t, i18n } = useTranslation();
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1.5 px-4 py-3">
      <div className="min-w-0 flex-1 basis-60">
        <div className="flex flex-wrap items-center gap-2">
          <span className="font-medium">
            <AgentLine text={item.user ?? t('keys.nameless')} />
          </span>
          <Badge tone={item.role === 'admin' ? 'accent' : 'plain'}>{t(`roles.${item.role}`)}</Badge>
          {item.groups.map((group) => (
            <Badge key={group}>{group}</Badge>
          ))}
          {item.client ? <Badge>{item.client}</Badge> : null}
          {item.root ? (
            <Badge>
              <AgentLine text={item.root} />
            </Badge>
          ) : null}
          {item.revoked_at ? <Badge tone="danger">{t('keys.revoked')}</Badge> : null}
        </div>
        <div className="text-muted text-sm">
          {item.last_used_at ? (
            <>
              {t('keys.used')} <Ago at={item.last_used_at} />
            </>
          ) : (
            t('keys.unused')
          )}
          {item.expires_at ? ` · ${t('keys.expires', { time: moment(item.expires_at, i18n.language) })}` : null}
        </div>
      </div>
      {item.revoked_at ? null : (
        <Button
          size="sm"
          tone="danger"
          aria-label={t('keys.revokeOf', { name: item.user ?? item.id })}
          onClick={onRevoke}
        >
          {t('keys.revoke')}
        </Button>
      )}
    </li>
  );
}

function Revoke({ item, onClose }: { item: Key; onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => responseBody(api.DELETE('/v1/keys/{key}', { params: { path: { key: item.id } } })),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: ['keys'] });
      onClose();
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('keys.revokeTitle')}
      about={t('keys.revokeAbout', { name: item.user ?? item.id })}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button tone="solidDanger" busy={revoke.isPending} onClick={() => revoke.mutate()}>
            {t('keys.revoke')}
          </Button>
        </>
      }
    >
      {revoke.error ? <ProblemNotice error={revoke.error} /> : null}
    </Dialog>
  );
}
