import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Interaction } from '@/api/types';
import { Button } from '@/ui/button';

const BatchDialog = lazy(() => import('./batch-dialog'));

/** Bar with the number of selected questions and the batch actions. */
export function BatchBar({ questions, onClear }: { questions: Interaction[]; onClear: () => void }) {
  const { t } = useTranslation();
  const [effect, setEffect] = useState<'approve' | 'reject' | null>(null);
  const [begun, setBegun] = useState<Interaction[]>([]);
  const begin = (next: 'approve' | 'reject') => {
    setBegun(questions);
    setEffect(next);
  };
  return (
    <>
      {questions.length > 0 ? (
        <section
          aria-label={t('batch.label')}
          className="appear flex flex-wrap items-center gap-2 border-t bg-surface px-3 py-2.5 shadow-float"
        >
          <span className="mr-auto font-medium max-sm:basis-full">
            {t('batch.selected', { count: questions.length })}
          </span>
          <Button size="sm" tone="quiet" className="max-sm:flex-1" onClick={onClear}>
            {t('batch.clear')}
          </Button>
          <Button size="sm" tone="danger" className="max-sm:flex-1" onClick={() => begin('reject')}>
            {t('moves.reject')}…
          </Button>
          <Button size="sm" tone="accent" className="max-sm:flex-1" onClick={() => begin('approve')}>
            {t('moves.approve')}…
          </Button>
        </section>
      ) : null}
      {effect ? (
        <Suspense>
          <BatchDialog questions={begun} effect={effect} onClose={() => setEffect(null)} onDone={onClear} />
        </Suspense>
      ) : null}
    </>
  );
}
