import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { Toast as Radix } from 'radix-ui';
import { useTranslation } from 'react-i18next';
import { cn } from '@/lib/cn';
import { useToasts } from './show-toast';

/** Toast messages; loaded with the first message. */
export default function Toasts() {
  const { t } = useTranslation();
  const toasts = useToasts((state) => state.toasts);
  const drop = (id: number) => useToasts.setState((state) => ({ toasts: state.toasts.filter((one) => one.id !== id) }));
  return (
    <Radix.Provider duration={5000} label={t('common.notice')}>
      {toasts.map(({ id, tone, text }) => (
        <Radix.Root
          key={id}
          className="appear flex items-start gap-2.5 rounded-lg border bg-surface px-3.5 py-2.5 shadow-float"
          onOpenChange={(open) => open || drop(id)}
        >
          {tone === 'good' ? (
            <CircleCheck aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-good" />
          ) : (
            <CircleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-danger" />
          )}
          <Radix.Description className={cn('min-w-0 flex-1', tone === 'danger' && 'text-danger-ink')}>
            {text}
          </Radix.Description>
          <Radix.Close aria-label={t('common.close')} className="-mr-1 rounded p-0.5 text-muted hover:text-ink">
            <X aria-hidden="true" className="size-4" />
          </Radix.Close>
        </Radix.Root>
      ))}
      <Radix.Viewport className="fixed right-4 bottom-20 z-60 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2 outline-none lg:bottom-4" />
    </Radix.Provider>
  );
}
