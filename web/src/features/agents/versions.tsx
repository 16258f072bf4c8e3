import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import { definitionQuery } from '@/api/queries';
import type { Definition } from '@/api/types';
import type { Named } from '@/model/definitions';
import type { DefinitionKind } from '@/model/drafts';
import { AgentLine } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { JsonTable } from '@/ui/json';
import { Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { Ago } from '@/ui/time';
import type { NewDefinition } from './add';

interface Props {
  kind: DefinitionKind;
  named: Named;
  /** Set if the person may add and retire versions. */
  onDraft?: (draft: NewDefinition) => void;
}

/** All versions under one name, each with its definition. */
export function Versions({ kind, named, onDraft }: Props) {
  const [shown, setShown] = useState(named.latest.version);
  const [leaving, setLeaving] = useState<Definition>();
  const { t } = useTranslation();
  return (
    <div className="space-y-3 border-t bg-sunken px-4 py-3">
      <ul className="space-y-2">
        {named.versions.map((one) => (
          <li key={one.version} className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
            <Badge>
              <AgentLine text={one.version} />
            </Badge>
            <span className="min-w-0 flex-1 basis-40 text-muted text-sm">
              {t(`agents.source.${one.source}`)}
              {one.added_by && one.added_at ? (
                <>
                  {' · '}
                  <AgentLine text={one.added_by.name} /> <Ago at={one.added_at} />
                </>
              ) : null}
            </span>
            {one.retired_at ? <Badge tone="warn">{t('agents.retired')}</Badge> : null}
            {shown === one.version ? null : (
              <Button
                size="sm"
                tone="quiet"
                aria-label={t('agents.showOf', { version: one.version })}
                onClick={() => setShown(one.version)}
              >
                {t('agents.show')}
              </Button>
            )}
            {onDraft && one.source === 'project' && !one.retired_at ? (
              <Button
                size="sm"
                tone="danger"
                aria-label={t('agents.retireOf', { name: one.name, version: one.version })}
                onClick={() => setLeaving(one)}
              >
                {t('agents.retire')}
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      <Text kind={kind} name={named.latest.name} version={shown} onDraft={onDraft} />
      {leaving ? <Retire kind={kind} item={leaving} onClose={() => setLeaving(undefined)} /> : null}
    </div>
  );
}

interface TextProps {
  kind: DefinitionKind;
  name: string;
  version: string;
  onDraft?: (draft: NewDefinition) => void;
}

function Text({ kind, name, version, onDraft }: TextProps) {
  const { t } = useTranslation();
  const { data, error } = useQuery(definitionQuery(kind, name, version));
  if (error) return <ProblemNotice error={error} />;
  if (!data) return <Waiting label={t('common.loading')} />;
  return (
    <div className="space-y-3">
      <div className="rounded-md border bg-surface px-3 py-1.5">
        <JsonTable value={data.definition} />
      </div>
      {onDraft ? (
        <Button size="sm" onClick={() => onDraft({ kind, from: data.definition })}>
          {t('agents.next')}
        </Button>
      ) : null}
    </div>
  );
}

function Retire({ kind, item, onClose }: { kind: DefinitionKind; item: Definition; onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { name, version } = item;
  const retire = useMutation({
    mutationFn: () => {
      const params = { path: { name, version } };
      return kind === 'agent'
        ? responseBody(api.DELETE('/v1/agents/{name}/{version}', { params }))
        : responseBody(api.DELETE('/v1/flows/{name}/{version}', { params }));
    },
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: [kind === 'agent' ? 'agents' : 'flows'] });
      onClose();
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('agents.retireTitle', { name, version })}
      about={t('agents.retireAbout')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button tone="solidDanger" busy={retire.isPending} onClick={() => retire.mutate()}>
            {t('agents.retire')}
          </Button>
        </>
      }
    >
      {retire.error ? <ProblemNotice error={retire.error} /> : null}
    </Dialog>
  );
}
