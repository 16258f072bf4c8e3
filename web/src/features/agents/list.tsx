import { Bot, ChevronDown, Play, Workflow } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Definition } from '@/api/types';
import { cn } from '@/lib/cn';
import { type Named, newest } from '@/model/definitions';
import type { DefinitionKind } from '@/model/drafts';
import { AgentLine } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Card } from '@/ui/page';
import type { NewDefinition } from './add';
import { Versions } from './versions';

interface Props {
  list: Definition[];
  kind: DefinitionKind;
  onStart?: (definition: Definition) => void;
  onDraft?: (draft: NewDefinition) => void;
}

/** Agents or flows by name, each with the version that a new session would use. */
export function Definitions({ list, ...rest }: Props) {
  return (
    <Card>
      <ul className="divide-y">
        {newest(list).map((named) => (
          <Row key={named.latest.name} named={named} {...rest} />
        ))}
      </ul>
    </Card>
  );
}

function Row({ named, kind, onStart, onDraft }: Omit<Props, 'list'> & { named: Named }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const { latest, versions } = named;
  const Icon = kind === 'agent' ? Bot : Workflow;
  return (
    <li>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3.5">
        <Icon aria-hidden="true" className="size-5 shrink-0 text-muted" strokeWidth={1.6} />
        <div className="min-w-0 flex-1 basis-60">
          <div className="flex flex-wrap items-center gap-2">
            <span className="font-medium">
              <AgentLine text={latest.name} />
            </span>
            <Badge>
              <AgentLine text={latest.version} />
            </Badge>
            {versions.length > 1 ? (
              <span className="text-muted text-sm">{t('agents.versions', { count: versions.length })}</span>
            ) : null}
            {latest.retired_at ? <Badge tone="warn">{t('agents.retired')}</Badge> : null}
          </div>
          {latest.description ? (
            <p className="text-muted">
              <AgentLine text={latest.description} />
            </p>
          ) : null}
        </div>
        <Button
          size="sm"
          tone="quiet"
          aria-expanded={open}
          aria-label={t('agents.detailsOf', { name: latest.name })}
          onClick={() => setOpen(!open)}
        >
          <ChevronDown aria-hidden="true" className={cn('transition-transform', open && 'rotate-180')} />
          {t('agents.details')}
        </Button>
        {onStart && !latest.retired_at ? (
          <Button size="sm" aria-label={t('agents.startOf', { name: latest.name })} onClick={() => onStart(latest)}>
            <Play aria-hidden="true" />
            {t('agents.start')}
          </Button>
        ) : null}
      </div>
      {open ? <Versions kind={kind} named={named} onDraft={onDraft} /> : null}
    </li>
  );
}
