import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { api, attemptKey, responseBody } from '@/api/client';
import { meQuery } from '@/api/queries';
import type { components } from '@/api/schema';
import { useDraft } from '@/lib/draft';
import { type DefinitionKind, draftName, draftOf } from '@/model/drafts';
import { readArguments } from '@/model/edit';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { showToast } from '@/ui/show-toast';

const Editor = lazy(() => import('@/ui/editor/editor'));

type Schemas = components['schemas'];

export interface NewDefinition {
  kind: DefinitionKind;
  from?: unknown;
}

/** Adds a version of an agent or flow to the project as JSON. The server reports errors with their location. */
export function Add({ draft, onClose }: { draft: NewDefinition; onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { data: me } = useQuery(meQuery());
  const { kind, from } = draft;
  const first = draftOf(kind, from);
  const [text, setText, forget] = useDraft(me && `${me.name} ${me.project} ${draftName(kind, from)}`, first);
  const value = readArguments(text);
  const add = useMutation({
    mutationFn: (body: Record<string, unknown>) => {
      const params = { header: { 'Idempotency-Key': attemptKey() } };
      return kind === 'agent'
        ? responseBody(api.POST('/v1/agents', { params, body: body as Schemas['AgentVersion'] }))
        : responseBody(api.POST('/v1/flows', { params, body: body as Schemas['FlowVersion'] }));
    },
    onSuccess: (added) => {
      void cache.invalidateQueries({ queryKey: [kind === 'agent' ? 'agents' : 'flows'] });
      showToast(t('agents.added', { name: added.name, version: added.version }));
      forget();
      onClose();
    },
  });
  return (
    <Dialog
      open
      wide
      onOpenChange={(open) => open || onClose()}
      title={t(kind === 'agent' ? 'agents.newAgentTitle' : 'agents.newFlowTitle')}
      about={t('agents.newAbout')}
      footer={
        <>
          {text === first ? null : (
            <Button tone="quiet" className="mr-auto" onClick={forget}>
              {t('common.discard')}
            </Button>
          )}
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button
            tone="accent"
            busy={add.isPending}
            disabled={!value}
            onClick={() => {
              if (value) add.mutate(value);
            }}
          >
            {t('agents.add')}
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        {add.error ? <ProblemNotice error={add.error} /> : null}
        <div className="max-h-[46dvh] min-h-64 overflow-auto rounded-lg border">
          <Suspense fallback={<Waiting rows={10} label={t('common.loading')} />}>
            <Editor value={text} language="json" label={t('agents.asJson')} onChange={setText} />
          </Suspense>
        </div>
        <p aria-live="polite" className="min-h-5 text-danger-ink text-sm">
          {value ? '' : t('edit.notObject')}
        </p>
      </div>
    </Dialog>
  );
}
