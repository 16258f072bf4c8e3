import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import type { Interaction } from '@/api/types';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input, Textarea } from '@/ui/field';
import { ProblemNotice } from '@/ui/problem';

interface Props {
  question: Interaction;
  what: 'abstain' | 'handover';
  onClose: () => void;
}

/** Explains the effect, takes a note, and sends the request. */
export default function OtherMoveDialog({ question, what, onClose }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [note, setNote] = useState('');
  const [channel, setChannel] = useState('');
  const go = useMutation({
    mutationFn: () => {
      const params = { path: { interaction: question.id } };
      const said = { note: note.trim() || undefined };
      return what === 'abstain'
        ? responseBody(api.POST('/v1/interactions/{interaction}/abstain', { params, body: said }))
        : responseBody(
            api.POST('/v1/interactions/{interaction}/handover', {
              params,
              body: { ...said, channel: channel.trim() || undefined },
            }),
          );
    },
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: ['interaction', question.id] });
      void cache.invalidateQueries({ queryKey: ['interactions'] });
      onClose();
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t(`instead.${what}.title`)}
      about={t(`instead.${what}.about`)}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button tone="accent" busy={go.isPending} onClick={() => go.mutate()}>
            {t(`instead.${what}.go`)}
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        <Field label={t(`instead.${what}.note`)} optional={t('common.optional')}>
          {(ids) => <Textarea {...ids} value={note} onChange={(event) => setNote(event.target.value)} />}
        </Field>
        {what === 'handover' ? (
          <Field
            label={t('instead.handover.channel')}
            optional={t('common.optional')}
            hint={t('instead.handover.channelHint')}
          >
            {(ids) => <Input {...ids} value={channel} onChange={(event) => setChannel(event.target.value)} />}
          </Field>
        ) : null}
        {go.error ? <ProblemNotice error={go.error} /> : null}
      </div>
    </Dialog>
  );
}
