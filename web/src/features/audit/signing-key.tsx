import { useQuery } from '@tanstack/react-query';
import { Link2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { auditKeyQuery } from '@/api/queries';
import { CopyBox } from '@/ui/copy';
import { Card } from '@/ui/page';
import { CheckTrail } from './check';

/** The signing key of the audit trail, and the command that verifies an export without trusting this server. */
export function SigningKey() {
  const { t } = useTranslation();
  const { data: key } = useQuery(auditKeyQuery());
  if (!key) return null;
  return (
    <Card className="space-y-3 p-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="flex items-center gap-2.5 font-medium">
          <Link2 aria-hidden="true" className="size-5 shrink-0 text-muted" />
          {t('audit.sealed', { algorithm: key.algorithm })}
        </p>
        <div className="sm:ml-auto">
          <CheckTrail publicKey={key.public_key} />
        </div>
      </div>
      <details>
        <summary className="text-accent-ink text-sm">{t('audit.verify')}</summary>
        <div className="mt-3 space-y-2">
          <p className="text-muted text-sm">{t('audit.verifyText')}</p>
          <CopyBox
            label={t('audit.verify')}
            value={`holdpoint audit verify holdpoint-audit.jsonl --public-key ${key.public_key}`}
          />
        </div>
      </details>
    </Card>
  );
}
