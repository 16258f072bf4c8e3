import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CircleCheckBig, SearchX } from 'lucide-react';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { meQuery } from '@/api/queries';
import { Button } from '@/ui/button';
import { CopyButton } from '@/ui/copy';
import { Empty } from '@/ui/page';
import { connectScript } from './connect';

/** Empty inbox, with the steps to connect an agent. */
export function NothingOpen() {
  const { t } = useTranslation();
  const { data: me } = useQuery(meQuery());
  const script = connectScript(location.origin, me);
  const shown = useRef<HTMLPreElement>(null);
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
