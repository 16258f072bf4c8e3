import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, KeyRound, Send, Trash2 } from 'lucide-react';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import type { Webhook } from '@/api/types';
import { inWords } from '@/lib/text';
import { moment } from '@/lib/time';
import { AgentLine } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button, buttonLook } from '@/ui/button';
import { Menu, MenuItem, MenuLine } from '@/ui/menu';
import { MenuButton } from '@/ui/menu-button';
import { ProblemNotice } from '@/ui/problem';
import { Ago } from '@/ui/time';
import { Deliveries } from './deliveries';
import type { MessageFilter } from './webhooks';

// Reason text of the server for a webhook that was created disabled, and that of 0.1.
const MADE_OFF = ['created disabled', 'made so'];

interface Props {
  webhook: Webhook;
  /** Filter of the shown messages, if they are shown. */
  shown?: MessageFilter;
  onShow: (shown: MessageFilter) => void;
  onBegin: (task: 'rotate' | 'off' | 'remove') => void;
}

/** One webhook: address, events and health. */
export function WebhookRow({ webhook, shown, onShow, onBegin }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const panel = useId();
  const path = { webhook: webhook.id };
  const on = useMutation({
    mutationFn: () =>
      responseBody(api.PUT('/v1/webhooks/{webhook}/enabled', { params: { path }, body: { enabled: true } })),
    onSettled: () => cache.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  const test = useMutation({
    mutationFn: () => responseBody(api.POST('/v1/webhooks/{webhook}/test', { params: { path }, body: {} })),
    onSuccess: () => {
      onShow({ webhook: webhook.id });
      void cache.invalidateQueries({ queryKey: ['webhook-deliveries', webhook.id] });
    },
  });
  const failed = on.error ?? test.error;
  return (
    <li className="px-4 py-3.5">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <Particulars webhook={webhook} />
        <div className="flex flex-wrap gap-2">
          <Button
            size="sm"
            aria-expanded={shown !== undefined}
            aria-controls={panel}
            aria-label={t('webhooks.messagesOf', { url: webhook.url })}
            onClick={() => onShow(shown ? {} : { webhook: webhook.id })}
          >
            {t('webhooks.messages')}
          </Button>
          {webhook.enabled ? (
            <Button size="sm" aria-label={t('webhooks.offOf', { url: webhook.url })} onClick={() => onBegin('off')}>
              {t('webhooks.off')}
            </Button>
          ) : (
            <Button
              size="sm"
              tone="accent"
              busy={on.isPending}
              aria-label={t('webhooks.onOf', { url: webhook.url })}
              onClick={() => on.mutate()}
            >
              {t('webhooks.on')}
            </Button>
          )}
          <MenuButton
            label={t('webhooks.more', { url: webhook.url })}
            className={buttonLook({ size: 'sm' })}
            menu={(props) => (
              <Menu {...props} label={t('webhooks.more', { url: webhook.url })} align="end">
                <MenuItem onSelect={() => test.mutate()}>
                  <Send aria-hidden="true" />
                  {t('webhooks.test')}
                </MenuItem>
                <MenuItem onSelect={() => onBegin('rotate')}>
                  <KeyRound aria-hidden="true" />
                  {t('webhooks.rotate')}
                </MenuItem>
                <MenuLine />
                <MenuItem onSelect={() => onBegin('remove')}>
                  <Trash2 aria-hidden="true" />
                  {t('webhooks.remove')}
                </MenuItem>
              </Menu>
            )}
          >
            <Ellipsis />
          </MenuButton>
        </div>
      </div>
      {failed ? (
        <div className="mt-3">
          <ProblemNotice error={failed} />
        </div>
      ) : null}
      <div id={panel}>{shown ? <Deliveries webhook={webhook} state={shown.state} onShow={onShow} /> : null}</div>
    </li>
  );
}

function Particulars({ webhook }: { webhook: Webhook }) {
  const { t, i18n } = useTranslation();
  const { agent, answers_of: answersOf, session } = webhook;
  const narrowed = [
    agent ? t('webhooks.onlyAgent', { agent }) : undefined,
    session ? t('webhooks.onlySession', { session }) : undefined,
    answersOf ? t('webhooks.answersOf', { agent: answersOf }) : undefined,
  ].filter((one) => one !== undefined);
  return (
    <div className="min-w-0 flex-1 basis-72 space-y-1">
      <div className="flex flex-wrap items-center gap-2">
        <code className="font-medium [overflow-wrap:anywhere]">
          <AgentLine text={webhook.url} />
        </code>
        <Badge tone={webhook.enabled ? 'good' : 'plain'}>
          {webhook.enabled ? t('webhooks.isOn') : t('webhooks.isOff')}
        </Badge>
        {webhook.failures > 0 ? (
          <Badge tone="danger">{t('webhooks.failing', { count: webhook.failures })}</Badge>
        ) : null}
      </div>
      {webhook.description ? (
        <p>
          <AgentLine text={webhook.description} />
        </p>
      ) : null}
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-muted text-sm">
        {webhook.events?.map((type) => (
          <code key={type} className="rounded-sm bg-hover px-1.5 [overflow-wrap:anywhere]">
            {type === '*' ? t('webhooks.everything') : type}
          </code>
        ))}
        {narrowed.map((text) => (
          <AgentLine key={text} text={text} />
        ))}
      </p>
      <p className="text-muted text-sm">
        {t('webhooks.madeBy', { name: webhook.created_by.name })} <Ago at={webhook.created_at} />
      </p>
      {webhook.disabled_at ? (
        <p className="text-sm text-warn-ink">
          {t('webhooks.offSince')}{' '}
          <time dateTime={webhook.disabled_at}>{moment(webhook.disabled_at, i18n.language)}</time>
          {webhook.disabled_reason ? (
            <>
              {': '}
              <AgentLine
                text={
                  MADE_OFF.includes(webhook.disabled_reason) ? t('webhooks.madeOff') : inWords(webhook.disabled_reason)
                }
              />
            </>
          ) : null}
        </p>
      ) : null}
    </div>
  );
}
