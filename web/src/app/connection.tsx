import { WifiOff } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useServerNow } from '@/lib/clock';
import { useConnection } from './live';

const PATIENCE = 1200;

/** Banner for a lost connection. A connection that returns within a moment shows no banner. */
export function ConnectionBanner() {
  const state = useConnection((connection) => connection.state);
  return state === 'lost' ? <LostBanner /> : null;
}

function LostBanner() {
  const { t } = useTranslation();
  const since = useConnection((connection) => connection.since);
  useServerNow();
  if (Date.now() - since < PATIENCE) return null;
  return (
    <div
      role="status"
      className="sticky top-0 z-30 flex items-center justify-center gap-2 border-warn/30 border-b bg-warn-soft px-4 py-2 font-medium text-sm text-warn-ink"
    >
      <WifiOff aria-hidden="true" className="size-4" />
      {t('connection.lost')}
    </div>
  );
}

/** A dot that shows whether live updates are connected. */
export function ConnectionDot() {
  const { t } = useTranslation();
  const state = useConnection((connection) => connection.state);
  const live = state === 'open';
  return (
    <span
      role="img"
      aria-label={live ? t('connection.live') : t('connection.waiting')}
      title={live ? t('connection.live') : t('connection.waiting')}
      className={`block size-2 shrink-0 rounded-full ${live ? 'bg-good' : 'animate-pulse bg-warn'}`}
    />
  );
}
