import { Outlet, useParams, useSearch } from '@tanstack/react-router';
import { MousePointerClick } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useTitle } from '@/app/title';
import { Filters } from '@/features/inbox/filters';
import { QuestionList } from '@/features/inbox/list';
import { cn } from '@/lib/cn';
import { Empty } from '@/ui/page';

/** List and question side by side on a desktop; one of them on a phone. */
export function InboxRoute() {
  const { t } = useTranslation();
  const { move: _, ...search } = useSearch({ from: '/inside/inbox' });
  const { interaction } = useParams({ strict: false });
  useTitle(interaction ? undefined : t('nav.inbox'));
  useReturnToQuestion(interaction);
  return (
    <div className="flex h-full">
      <section
        aria-labelledby="inbox-title"
        className={cn(
          'flex min-w-0 flex-col bg-surface max-lg:w-full lg:w-100 lg:shrink-0 lg:border-r',
          interaction && 'max-lg:hidden',
        )}
      >
        <h1 id="inbox-title" className="px-4 pt-4 font-semibold text-xl tracking-tight">
          {t('nav.inbox')}
        </h1>
        <Filters />
        <QuestionList
          filter={{ status: 'pending', ...search }}
          filtered={Object.keys(search).length > 0}
          here={interaction}
        />
      </section>
      <section
        aria-label={t('question.label')}
        className={cn('min-w-0 flex-1 overflow-y-auto', !interaction && 'max-lg:hidden')}
      >
        {interaction ? (
          <Outlet />
        ) : (
          <Empty icon={MousePointerClick} title={t('inbox.chooseTitle')} className="h-full justify-center">
            <p>{t('inbox.chooseText')}</p>
          </Empty>
        )}
      </section>
    </div>
  );
}

/** On a phone, returning to the list scrolls to the question that was open. */
function useReturnToQuestion(interaction: string | undefined): void {
  const last = useRef(interaction);
  useEffect(() => {
    if (last.current && !interaction && document.activeElement === document.body)
      document.querySelector<HTMLElement>(`[data-question="${CSS.escape(last.current)}"] a`)?.focus();
    last.current = interaction;
  }, [interaction]);
}
