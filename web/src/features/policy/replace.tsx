import { useTranslation } from 'react-i18next';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';

/** Asks before another text replaces an unsaved draft. */
export function ReplaceDraft({ onClose, onReplace }: { onClose: () => void; onReplace: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('policy.replaceTitle')}
      footer={
        <>
          <Button onClick={onClose}>{t('policy.keepDraft')}</Button>
          <Button tone="solidDanger" onClick={onReplace}>
            {t('policy.replace')}
          </Button>
        </>
      }
    >
      <p>{t('policy.replaceAbout')}</p>
    </Dialog>
  );
}
