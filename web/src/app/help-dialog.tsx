import { useTranslation } from 'react-i18next';
import { Dialog } from '@/ui/dialog';

const KEYS = [
  ['j', 'next'],
  ['k', 'previous'],
  ['Enter', 'open'],
  ['x', 'select'],
  ['a', 'approve'],
  ['e', 'edit'],
  ['r', 'reject'],
  ['/', 'search'],
  ['?', 'help'],
] as const;

export default function HelpDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog open onOpenChange={(open) => open || onClose()} title={t('help.title')} about={t('help.about')}>
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2.5">
        {KEYS.map(([key, name]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="inline-block min-w-7 rounded-sm border bg-sunken px-1.5 py-0.5 text-center text-sm">
                {key}
              </kbd>
            </dt>
            <dd>{t(`help.${name}`)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
