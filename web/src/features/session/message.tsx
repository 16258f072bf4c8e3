import { useMutation, useQuery } from '@tanstack/react-query';
import { SendHorizontal } from 'lucide-react';
import { type FormEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, attemptKey, responseBody } from '@/api/client';
import { asProblem } from '@/api/problem';
import { meQuery } from '@/api/queries';
import { useDraft } from '@/lib/draft';
import { Button } from '@/ui/button';
import { Field, Textarea } from '@/ui/field';
import { ProblemNotice } from '@/ui/problem';

/** Sends a message to a hosted agent. The message appears in the timeline once the server has stored it. */
export function Message({ session }: { session: string }) {
  const { t } = useTranslation();
  const { data: me } = useQuery(meQuery());
  const [text, setText, forget] = useDraft(me ? `${me.name} ${session} message` : undefined, '');
  const written = useRef(text);
  written.current = text;
  const [key, setKey] = useState(attemptKey);
  const send = useMutation({
    mutationFn: ({ content, key }: { content: string; key: string }) =>
      responseBody(
        api.POST('/v1/sessions/{session}/messages', {
          params: { path: { session }, header: { 'Idempotency-Key': key } },
          body: { content },
        }),
      ),
    retry: (failures, error) => asProblem(error).passing && failures < 3,
    onSuccess: (_, { content }) => {
      // Keeps text that was typed while the message was being sent.
      if (written.current === content) forget();
      else setText((now) => (now.startsWith(content) ? now.slice(content.length).trimStart() : now));
      setKey(attemptKey());
    },
  });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (text.trim() !== '' && !send.isPending) send.mutate({ content: text, key });
  };
  return (
    <form onSubmit={submit} className="space-y-2">
      <Field label={t('session.message')}>
        {(ids) => (
          <Textarea
            {...ids}
            rows={2}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setKey(attemptKey());
            }}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
            }}
          />
        )}
      </Field>
      <Button type="submit" busy={send.isPending} disabled={text.trim() === ''}>
        <SendHorizontal aria-hidden="true" />
        {t('session.send')}
      </Button>
      {send.error ? <ProblemNotice error={send.error} /> : null}
    </form>
  );
}
