import { useTranslation } from 'react-i18next';
import type { Tally } from '@/api/types';
import { localeOf, span } from '@/lib/time';
import { rejectedShare } from '@/model/series';
import { Card, Section } from '@/ui/page';

const COLUMNS = ['answered', 'automatic', 'expiredCount', 'cancelled', 'rejected', 'median', 'p95Column'] as const;
type Column = (typeof COLUMNS)[number];
/** Columns that apply to a person. */
export const OF_A_PERSON: readonly Column[] = ['answered', 'rejected', 'median', 'p95Column'];

/** Outcomes of questions grouped by kind, person or rule. */
export function Tallies({
  title,
  tallies,
  columns = COLUMNS,
  nameOf = (name) => name,
}: {
  title: string;
  tallies: Tally[];
  columns?: readonly Column[];
  nameOf?: (name: string) => string;
}) {
  const { t } = useTranslation();
  return (
    <Section title={title} className="mt-8">
      <Card className="overflow-x-auto">
        {tallies.length === 0 ? <p className="p-4 text-muted">{t('insights.nothingClosed')}</p> : null}
        {tallies.length > 0 ? (
          <table className="w-full text-sm">
            <caption className="sr-only">{title}</caption>
            <thead>
              <tr className="border-b text-left text-muted max-sm:sr-only">
                <th scope="col" className="p-3 font-medium">
                  {t('insights.name')}
                </th>
                {columns.map((column) => (
                  <th key={column} scope="col" className="p-3 text-right font-medium">
                    {t(`insights.${column}`)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {tallies.map((tally) => (
                <Row key={tally.name} name={nameOf(tally.name)} tally={tally} columns={columns} />
              ))}
            </tbody>
          </table>
        ) : null}
      </Card>
    </Section>
  );
}

function Row({ name, tally, columns }: { name: string; tally: Tally; columns: readonly Column[] }) {
  const { t, i18n } = useTranslation();
  const time = (seconds?: number | null) =>
    seconds === undefined || seconds === null ? '–' : span(seconds, i18n.language);
  const rejected = rejectedShare(tally);
  const share =
    rejected === undefined
      ? '–'
      : new Intl.NumberFormat(localeOf(i18n.language), { style: 'percent' }).format(rejected);
  const cells: Record<Column, string | number> = {
    answered: tally.closed.answered ?? 0,
    automatic: tally.closed.auto_resolved ?? 0,
    expiredCount: tally.closed.expired ?? 0,
    cancelled: tally.closed.cancelled ?? 0,
    rejected: share,
    median: time(tally.wait_seconds_p50),
    p95Column: time(tally.wait_seconds_p95),
  };
  return (
    <tr className="border-b last:border-0 max-sm:block max-sm:py-2">
      <th
        scope="row"
        className="max-w-64 truncate p-3 text-left font-normal max-sm:block max-sm:py-1 max-sm:font-medium"
      >
        {name}
      </th>
      {columns.map((column) => (
        <td key={column} className="whitespace-nowrap p-3 text-right tabular-nums max-sm:flex max-sm:py-0.5">
          <span className="flex-1 text-left text-muted sm:hidden">{t(`insights.${column}`)}</span>
          {cells[column]}
        </td>
      ))}
    </tr>
  );
}
