import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { api, attemptKey, responseBody } from '@/api/client';
import { asProblem } from '@/api/problem';
import { meQuery } from '@/api/queries';
import type { Definition } from '@/api/types';
import { cn } from '@/lib/cn';
import { useDraft } from '@/lib/draft';
import { inputOf } from '@/model/definitions';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input, Textarea } from '@/ui/field';
import { ProblemNotice } from '@/ui/problem';

export interface Startable {
  kind: 'agent' | 'flow';
  definition: Definition;
}

interface Props {
  what: Startable;
  onClose: () => void;
  onStarted: (session: string) => void;
}

/** The draft, and the idempotency key of an attempt whose outcome is unknown. */
interface Order {
  title: string;
  input: string;
  attempt?: string;
}

const NOTHING: Order = { title: '', input: '' };

/** Starts a session of an agent or flow of this server with a task. */
export function Start({ what, onClose, onStarted }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { data: me } = useQuery(meQuery());
  const id = useId();
  const { name } = what.definition;
  const [order, setOrder, forget] = useDraft(me && `${me.name} ${me.project} start ${what.kind} ${name}`, NOTHING);
  const taking = inputOf(order.input).as;
  const start = useMutation({
    mutationFn: ({ attempt, title, input }: Order) =>
      responseBody(
        api.POST('/v1/sessions', {
          params: { header: { 'Idempotency-Key': attempt } },
          body: {
            ...(what.kind === 'agent' ? { agent: name } : { flow: name }),
            title: title.trim() || undefined,
            input: inputOf(input).value,
          },
        }),
      ),
    retry: (failures, error) => asProblem(error).passing && failures < 3,
    onSuccess: (session) => {
      forget();
      void cache.invalidateQueries({ queryKey: ['sessions'] });
      onStarted(session.id);
    },
    onError: (error) => {
      if (asProblem(error).refused) setOrder(({ attempt: _, ...written }) => written);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const sent = { ...order, attempt: order.attempt ?? attemptKey() };
    setOrder(sent);
    start.mutate(sent);
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('agents.startTitle', { name })}
      about={what.definition.description ?? undefined}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button type="submit" form={id} tone="accent" busy={start.isPending}>
            {t('agents.start')}
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={submit} className="space-y-4">
        <Field label={t('agents.sessionTitle')} optional={t('common.optional')}>
          {(ids) => (
            <Input
              {...ids}
              autoComplete="off"
              value={order.title}
              onChange={(event) => setOrder({ title: event.target.value, input: order.input })}
            />
          )}
        </Field>
        <Field
          label={t('agents.input')}
          optional={t('common.optional')}
          hint={<span className={cn(taking === 'broken' && 'text-warn-ink')}>{t(`agents.inputRead.${taking}`)}</span>}
        >
          {(ids) => (
            <Textarea
              {...ids}
              rows={5}
              value={order.input}
              onChange={(event) => setOrder({ title: order.title, input: event.target.value })}
            />
          )}
        </Field>
        {start.error ? <ProblemNotice error={start.error} /> : null}
      </form>
    </Dialog>
  );
}
