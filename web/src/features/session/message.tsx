import { useMutation } from '@tanstack/react-query';
import { SendHorizontal } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, attemptKey, taken } from '@/api/client';
import { asProblem } from '@/api/problem';
import { Button } from '@/ui/button';
import { Field, Textarea } from '@/ui/field';
import { ProblemNotice } from '@/ui/problem';

/** Says something to an agent that this server runs. It stands in the timeline once the server has it. */
export function Message({ session }: { session: string }) {
  const { t } = useTranslation();
  const [draft, setDraft] = useState({ text: '', key: attemptKey() });
  const send = useMutation({
    mutationFn: () =>
      taken(
        api.POST('/v1/sessions/{session}/messages', {
          params: { path: { session }, header: { 'Idempotency-Key': draft.key } },
          body: { content: draft.text },
        }),
      ),
    retry: (failures, error) => asProblem(error).passing && failures < 3,
    onSuccess: () => setDraft({ text: '', key: attemptKey() }),
  });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (draft.text.trim() !== '' && !send.isPending) send.mutate();
  };
  return (
    <form onSubmit={submit} className="space-y-2">
      <Field label={t('session.message')}>
        {(ids) => (
          <Textarea
            {...ids}
            rows={2}
            value={draft.text}
            onChange={(event) => setDraft({ text: event.target.value, key: attemptKey() })}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
            }}
          />
        )}
      </Field>
      <Button type="submit" busy={send.isPending} disabled={draft.text.trim() === ''}>
        <SendHorizontal aria-hidden="true" />
        {t('session.send')}
      </Button>
      {send.error ? <ProblemNotice error={send.error} /> : null}
    </form>
  );
}
