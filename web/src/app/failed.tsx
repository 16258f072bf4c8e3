import { Link, useRouter } from '@tanstack/react-router';
import { Signpost } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { Empty } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';

/** Error page: the reason, and a button that tries again. */
export function Failed({ error }: { error: unknown }) {
  const router = useRouter();
  return (
    <main className="mx-auto max-w-xl p-6">
      <ProblemNotice error={error} again={() => void router.invalidate()} />
    </main>
  );
}

export function NotFound() {
  const { t } = useTranslation();
  return (
    <main>
      <Empty level={1} icon={Signpost} title={t('common.noPage')}>
        <Link to="/inbox" className="font-medium text-accent-ink underline">
          {t('nav.inbox')}
        </Link>
      </Empty>
    </main>
  );
}
