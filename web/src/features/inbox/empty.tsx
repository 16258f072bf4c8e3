import { useNavigate } from '@tanstack/react-router';
import { CircleCheckBig, SearchX } from 'lucide-react';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '@/ui/button';
import { CopyButton } from '@/ui/copy';
import { Empty } from '@/ui/page';

/** Nothing is open: good, and here is how an agent gets here. */
export function NothingOpen() {
  const { t } = useTranslation();
  const shown = useRef<HTMLPreElement>(null);
  const { origin } = location;
  const script = `KEY=$(holdpoint keys create --role agent --user my-agent)

SES=$(curl -s ${origin}/v1/sessions \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"agent": "my-agent"}' | grep -o 'ses_[0-9a-f-]*' | head -1)

curl -s ${origin}/v1/sessions/$SES/actions \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"call_id": "1", "tool": "execute_command",
       "arguments": {"command": "git push"}}'`;
  return (
    <Empty icon={CircleCheckBig} title={t('inbox.emptyTitle')} className="overflow-y-auto">
      <p>{t('inbox.emptyText')}</p>
      <pre
        ref={shown}
        className="overflow-x-auto rounded-lg border bg-sunken p-4 text-left text-ink text-sm leading-relaxed"
      >
        {script}
      </pre>
      <CopyButton value={script} shown={shown} />
      <p className="text-sm">{t('inbox.emptyHint')}</p>
    </Empty>
  );
}

export function NothingFound() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  return (
    <Empty icon={SearchX} title={t('inbox.noneFound')}>
      <Button onClick={() => void navigate({ to: '.', search: {} })}>{t('inbox.showAll')}</Button>
    </Empty>
  );
}
