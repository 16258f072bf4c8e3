import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '@/ui/button';
import { Card, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';

interface Props<T> {
  about: string;
  /** Label of the button for a new entry. */
  action: string;
  onNew: () => void;
  query: { error: unknown; refetch: () => unknown };
  /** Entries, once they are loaded. */
  entries: T[] | undefined;
  row: (entry: T) => ReactNode;
  /** Open dialogs. */
  children: ReactNode;
}

/** List of a settings page, with a sentence about it and a button for a new entry. */
export function ListFrame<T>({ about, action, onNew, query: { error, refetch }, entries, row, children }: Props<T>) {
  const { t } = useTranslation();
  return (
    <div className="space-y-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-lg text-muted">{about}</p>
        <Button tone="accent" onClick={onNew}>
          <Plus aria-hidden="true" />
          {action}
        </Button>
      </div>
      {error ? <ProblemNotice error={error} again={() => void refetch()} /> : null}
      {!entries && !error ? <Waiting label={t('common.loading')} /> : null}
      {entries ? (
        <Card>
          <ul className="divide-y">{entries.map(row)}</ul>
        </Card>
      ) : null}
      {children}
    </div>
  );
}
