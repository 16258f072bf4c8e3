import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';

interface Props {
  title: ReactNode;
  about?: ReactNode;
  /** Request that makes the value. */
  make: { isPending: boolean; isSuccess: boolean };
  /** Label of the button that sends the request. */
  action: string;
  /** Form that the button submits, or the handler of the button. */
  onAction: string | (() => void);
  onClose: () => void;
  children: ReactNode;
}

/** Dialog that makes a key, a link or the secret of a webhook and shows it once. While it does, only its buttons close it. */
export function NewCredentialDialog({ title, about, make, action, onAction, onClose, children }: Props) {
  const { t } = useTranslation();
  const send = typeof onAction === 'string' ? { type: 'submit' as const, form: onAction } : { onClick: onAction };
  return (
    <Dialog
      open
      once={make.isPending || make.isSuccess}
      onOpenChange={(open) => open || onClose()}
      title={title}
      about={about}
      footer={
        make.isSuccess ? (
          <Button tone="accent" onClick={onClose}>
            {t('common.done')}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{t('common.back')}</Button>
            <Button tone="accent" busy={make.isPending} {...send}>
              {action}
            </Button>
          </>
        )
      }
    >
      {children}
    </Dialog>
  );
}
