import { Layers } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Policy } from '@/api/types';
import { AgentText } from '@/ui/agent-text';
import { Notice } from '@/ui/page';
import { RefusedFile } from './refused-file';

/** The server's floor: rules that a project policy cannot loosen. Only the operator of the server can change it. */
export function Floor({ floor }: { floor: NonNullable<Policy['floor']> }) {
  const { t } = useTranslation();
  return (
    <Notice tone="plain" icon={Layers} title={t('policy.floor.title')}>
      <p>
        {t('policy.floor.about')}{' '}
        <span title={floor.version}>{t('policy.floor.version', { version: floor.version.slice(0, 12) })}</span>
      </p>
      <details className="mt-2">
        <summary className="cursor-pointer">{t('policy.floor.show')}</summary>
        <pre className="mt-2 overflow-x-auto font-mono text-sm">
          <AgentText text={floor.text} />
        </pre>
      </details>
      {floor.refused_file ? <RefusedFile file={floor.refused_file} title={t('policy.floor.refusedFile')} /> : null}
    </Notice>
  );
}
