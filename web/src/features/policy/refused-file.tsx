import { TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Policy } from '@/api/types';
import { Notice } from '@/ui/page';
import { Findings } from './findings';

interface Props {
  file: NonNullable<Policy['refused_file']>;
  title: string;
}

/** Notice that a server file is not active as written, with the version that is. */
export function RefusedFile({ file, title }: Props) {
  const { t } = useTranslation();
  return (
    <Notice tone="warn" icon={TriangleAlert} title={file.retried ? t('policy.notYetRead') : title}>
      {file.in_force ? (
        <p className="mb-2">
          {t('policy.meanwhile')} <code title={file.in_force}>{file.in_force.slice(0, 12)}</code>
        </p>
      ) : null}
      <Findings findings={file.findings} />
    </Notice>
  );
}
