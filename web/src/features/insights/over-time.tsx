import { useTranslation } from 'react-i18next';
import type { StatsDetails } from '@/api/types';
import { localeOf } from '@/lib/time';
import { type Bucket, endsOf, OUTCOMES, series } from '@/model/series';
import { Card, Section } from '@/ui/page';

const FILLS = { answered: 'fill-accent', auto_resolved: 'fill-edge', expired: 'fill-warn', cancelled: 'fill-muted' };
const DOTS = { answered: 'bg-accent', auto_resolved: 'bg-edge', expired: 'bg-warn', cancelled: 'bg-muted' };

/** Outcomes over the selected period. */
export function OverTime({ details }: { details: StatsDetails }) {
  const { t } = useTranslation();
  return (
    <Section title={t('insights.overTime')}>
      <Card className="p-4">
        <ul aria-hidden="true" className="mb-3 flex flex-wrap gap-x-4 gap-y-1 text-muted text-sm">
          {OUTCOMES.map((name) => (
            <li key={name} className="flex items-center gap-1.5">
              <span className={`size-2.5 rounded-sm ${DOTS[name]}`} />
              {t(`status.${name}`)}
            </li>
          ))}
        </ul>
        <Bars buckets={series(details)} />
      </Card>
    </Section>
  );
}

function Bars({ buckets }: { buckets: Bucket[] }) {
  const { t, i18n } = useTranslation();
  const sums = buckets.map(({ counts }) => OUTCOMES.reduce((sum, name) => sum + counts[name], 0));
  const most = Math.max(1, ...sums);
  const ends = endsOf(buckets, localeOf(i18n.language));
  return (
    <figure>
      <svg
        aria-hidden="true"
        viewBox={`0 0 ${buckets.length * 20} 100`}
        preserveAspectRatio="none"
        className="h-44 w-full border-b"
      >
        {buckets.map(({ from, counts }, at) => {
          let top = 100;
          return OUTCOMES.map((name) => {
            const height = (counts[name] / most) * 96;
            top -= height;
            return (
              <rect
                key={`${from} ${name}`}
                x={at * 20 + 4}
                y={top}
                width="12"
                height={height}
                className={FILLS[name]}
              />
            );
          });
        })}
      </svg>
      <div aria-hidden="true" className="mt-1.5 flex text-center text-muted text-xs">
        {buckets.map(({ to }, at) => (
          <span key={to} className="min-w-0 flex-1 truncate">
            {ends[at]}
          </span>
        ))}
      </div>
      <div className="sr-only">
        <table>
          <caption>{t('insights.overTime')}</caption>
          <thead>
            <tr>
              <th scope="col">{t('insights.until')}</th>
              {OUTCOMES.map((name) => (
                <th key={name} scope="col">
                  {t(`status.${name}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {buckets.map(({ to, counts }, at) => (
              <tr key={to}>
                <th scope="row">{ends[at]}</th>
                {OUTCOMES.map((name) => (
                  <td key={name}>{counts[name]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
