import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import { type DeliveryState, webhookDeliveriesQuery } from '@/api/queries';
import type { Webhook, WebhookDelivery } from '@/api/types';
import { inWords } from '@/lib/text';
import { moment } from '@/lib/time';
import { AgentLine } from '@/ui/agent-text';
import { Badge, type Tone } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Select } from '@/ui/field';
import { More } from '@/ui/more';
import { Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { Ago } from '@/ui/time';
import type { MessageFilter } from './webhooks';

const STATES: Record<DeliveryState, Tone> = { pending: 'warn', delivered: 'good', dead: 'danger', dropped: 'plain' };

interface Props {
  webhook: Webhook;
  state?: DeliveryState;
  onShow: (shown: MessageFilter) => void;
}

/** Messages of a webhook; failed ones can be sent again. */
export function Deliveries({ webhook, state, onShow }: Props) {
  const { t } = useTranslation();
  const query = useInfiniteQuery(webhookDeliveriesQuery(webhook.id, state));
  const { data, error, refetch } = query;
  const deliveries = data?.pages.flatMap((page) => page.deliveries) ?? [];
  return (
    <section aria-label={t('webhooks.messagesOf', { url: webhook.url })} className="mt-3 rounded-lg border bg-sunken">
      <div className="border-b px-3 py-2">
        <Select
          aria-label={t('webhooks.state')}
          className="w-auto!"
          value={state ?? ''}
          onChange={(event) =>
            onShow({ webhook: webhook.id, state: (event.target.value || undefined) as DeliveryState | undefined })
          }
        >
          <option value="">{t('webhooks.everyState')}</option>
          {(Object.keys(STATES) as DeliveryState[]).map((one) => (
            <option key={one} value={one}>
              {t(`webhooks.states.${one}`)}
            </option>
          ))}
        </Select>
      </div>
      {error && !data ? <ProblemNotice error={error} again={() => void refetch()} /> : null}
      {!data && !error ? <Waiting rows={3} label={t('common.loading')} /> : null}
      {data && deliveries.length === 0 ? <p className="px-3 py-4 text-muted">{t('webhooks.noMessages')}</p> : null}
      <ul className="divide-y">
        {deliveries.map((delivery) => (
          <Delivery key={delivery.id} delivery={delivery} />
        ))}
      </ul>
      <More query={query} size="sm" className="border-t p-2" />
    </section>
  );
}

function Delivery({ delivery }: { delivery: WebhookDelivery }) {
  const { t, i18n } = useTranslation();
  const cache = useQueryClient();
  const state = delivery.state as DeliveryState;
  const replay = useMutation({
    mutationFn: () =>
      responseBody(
        api.POST('/v1/webhooks/{webhook}/deliveries/{delivery}/replay', {
          params: { path: { webhook: delivery.webhook, delivery: delivery.id } },
          body: {},
        }),
      ),
    onSettled: () => cache.invalidateQueries({ queryKey: ['webhook-deliveries', delivery.webhook] }),
  });
  return (
    <li className="space-y-2 px-3 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <code className="font-medium">{delivery.type}</code>
        <Badge tone={STATES[state]}>{t(`webhooks.states.${state}`, { defaultValue: state })}</Badge>
        <span className="min-w-0 flex-1 basis-40 text-muted text-sm">
          <Ago at={delivery.created_at} />
          {delivery.due_at && delivery.tries > 0
            ? ` · ${t('webhooks.again', { time: moment(delivery.due_at, i18n.language) })}`
            : null}
          {delivery.reason ? (
            <>
              {' · '}
              <AgentLine text={inWords(delivery.reason)} />
            </>
          ) : null}
        </span>
        {state === 'dead' || state === 'delivered' ? (
          <Button
            size="sm"
            tone={state === 'dead' ? 'accent' : 'quiet'}
            busy={replay.isPending}
            aria-label={t('webhooks.replayOf', { type: delivery.type })}
            onClick={() => replay.mutate()}
          >
            {t('webhooks.replay')}
          </Button>
        ) : null}
      </div>
      {delivery.attempts.length > 0 ? (
        <details>
          <summary className="text-muted text-sm">
            {t('webhooks.attempts', { count: delivery.attempts.length })}
          </summary>
          <Attempts delivery={delivery} />
        </details>
      ) : null}
      {replay.error ? <ProblemNotice error={replay.error} /> : null}
    </li>
  );
}

function Attempts({ delivery }: { delivery: WebhookDelivery }) {
  const { t, i18n } = useTranslation();
  return (
    <>
      <ol className="mt-1.5 space-y-1 text-sm">
        {delivery.attempts.map((attempt) => (
          <li key={attempt.at} className="flex flex-wrap gap-x-3">
            <span className="text-muted">{moment(attempt.at, i18n.language)}</span>
            <span className="font-medium">{attempt.status ?? t('webhooks.noReply')}</span>
            <span className="text-muted">{t('webhooks.millis', { ms: attempt.millis })}</span>
            <span className="min-w-0 basis-full [overflow-wrap:anywhere]">
              <AgentLine text={attempt.note} />
            </span>
          </li>
        ))}
      </ol>
      <p className="mt-1.5 text-muted text-xs">
        webhook-id: <code className="[overflow-wrap:anywhere]">{delivery.id}</code>
      </p>
    </>
  );
}
