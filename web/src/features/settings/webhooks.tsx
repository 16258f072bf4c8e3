import { useInfiniteQuery } from '@tanstack/react-query';
import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type DeliveryState, webhooksQuery } from '@/api/queries';
import type { Webhook } from '@/api/types';
import { Button } from '@/ui/button';
import { More } from '@/ui/more';
import { Card, Empty, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { NewWebhook } from './new-webhook';
import { RemoveWebhook, RotateWebhook, SwitchOffWebhook } from './webhook-dialogs';
import { WebhookRow } from './webhook-row';

/** Webhook whose messages are shown, and their filter. */
export interface MessageFilter {
  webhook?: string;
  state?: DeliveryState;
}

/** Webhook actions that need confirmation. */
type Task = 'rotate' | 'off' | 'remove';

const DIALOGS = { rotate: RotateWebhook, off: SwitchOffWebhook, remove: RemoveWebhook };

/** Webhooks: the events of each, its health, and its messages. */
export function Webhooks({ shown, onShow }: { shown: MessageFilter; onShow: (shown: MessageFilter) => void }) {
  const { t } = useTranslation();
  const query = useInfiniteQuery(webhooksQuery());
  const { data, error, refetch } = query;
  const [making, setMaking] = useState(false);
  const [begun, setBegun] = useState<{ task: Task; webhook: Webhook }>();
  const webhooks = data?.pages.flatMap((page) => page.webhooks) ?? [];
  const Begun = begun && DIALOGS[begun.task];
  return (
    <div className="space-y-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-lg text-muted">{t('webhooks.about')}</p>
        <Button tone="accent" onClick={() => setMaking(true)}>
          <Plus aria-hidden="true" />
          {t('webhooks.new')}
        </Button>
      </div>
      {error && !data ? <ProblemNotice error={error} again={() => void refetch()} /> : null}
      {!data && !error ? <Waiting label={t('common.loading')} /> : null}
      {data && webhooks.length === 0 ? (
        <Empty icon={WebhookIcon} title={t('webhooks.none')}>
          <p>{t('webhooks.noneText')}</p>
        </Empty>
      ) : null}
      {webhooks.length > 0 ? (
        <Card>
          <ul className="divide-y">
            {webhooks.map((webhook) => (
              <WebhookRow
                key={webhook.id}
                webhook={webhook}
                shown={shown.webhook === webhook.id ? shown : undefined}
                onShow={onShow}
                onBegin={(task) => setBegun({ task, webhook })}
              />
            ))}
          </ul>
        </Card>
      ) : null}
      <More query={query} className="" />
      {making ? <NewWebhook onClose={() => setMaking(false)} /> : null}
      {begun && Begun ? <Begun webhook={begun.webhook} onClose={() => setBegun(undefined)} /> : null}
    </div>
  );
}
