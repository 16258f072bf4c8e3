import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, attemptKey, taken } from '@/api/client';
import { asProblem } from '@/api/problem';
import type { Definition } from '@/api/types';
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

/** Opens a session for an agent or a flow of this server, with what it is to work on. */
export function Start({ what, onClose, onStarted }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const id = useId();
  const [key] = useState(attemptKey);
  const { name } = what.definition;
  const start = useMutation({
    mutationFn: (form: FormData) =>
      taken(
        api.POST('/v1/sessions', {
          params: { header: { 'Idempotency-Key': key } },
          body: {
            ...(what.kind === 'agent' ? { agent: name } : { flow: name }),
            title: String(form.get('title')).trim() || undefined,
            input: inputOf(String(form.get('input'))),
          },
        }),
      ),
    retry: (failures, error) => asProblem(error).passing && failures < 3,
    onSuccess: (session) => {
      void cache.invalidateQueries({ queryKey: ['sessions'] });
      onStarted(session.id);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    start.mutate(new FormData(event.currentTarget));
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
          {(ids) => <Input {...ids} name="title" autoComplete="off" />}
        </Field>
        <Field label={t('agents.input')} optional={t('common.optional')} hint={t('agents.inputHint')}>
          {(ids) => <Textarea {...ids} name="input" rows={5} />}
        </Field>
        {start.error ? <ProblemNotice error={start.error} /> : null}
      </form>
    </Dialog>
  );
}
