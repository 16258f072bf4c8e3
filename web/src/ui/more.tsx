import { useTranslation } from 'react-i18next';
import { cn } from '@/lib/cn';
import { Button } from './button';

interface Props {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
  size?: 'sm' | 'md';
  className?: string;
}

/** Button below a list that loads the next page. It is absent on the last page. */
export function More({ query, size, className = 'mt-4' }: Props) {
  const { t } = useTranslation();
  return query.hasNextPage ? (
    <div className={cn('text-center', className)}>
      <Button size={size} busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {t('common.more')}
      </Button>
    </div>
  ) : null;
}
