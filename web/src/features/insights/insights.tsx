import { useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { statsDetailsQuery, statsQuery } from '@/api/queries';
import type { Stats, StatsDetails } from '@/api/types';
import { cn } from '@/lib/cn';
import { localeOf, span, spanBetween } from '@/lib/time';
import { expiredShare, partsOf, shareTone } from '@/model/series';
import { Select } from '@/ui/field';
import { KindIcon, useKindName } from '@/ui/kind';
import { Card, Page, Section, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { Ago } from '@/ui/time';
import { OverTime } from './over-time';
import { ShareMeter } from './share-meter';
import { OF_A_PERSON, Tallies } from './tallies';

const WINDOWS = [3600, 86_400, 604_800, 2_592_000] as const;

/** Statistics: open questions, response times and outcomes. */
export function Insights({ window, onWindow }: { window: number; onWindow: (window: number) => void }) {
  const { t, i18n } = useTranslation();
  const kindName = useKindName();
  const { data, error, refetch } = useQuery(statsQuery(window));
  const details = useQuery(statsDetailsQuery(window, partsOf(window)));
  return (
    <Page
      title={t('nav.insights')}
      about={t('insights.about')}
      actions={
        <Select
          className="w-auto!"
          aria-label={t('insights.window')}
          value={window}
          onChange={(event) => onWindow(Number(event.target.value))}
        >
          {WINDOWS.map((seconds) => (
            <option key={seconds} value={seconds}>
              {t('insights.last', { time: span(seconds, i18n.language) })}
            </option>
          ))}
        </Select>
      }
    >
      {error && !data ? <ProblemNotice error={error} again={() => void refetch()} /> : null}
      {!data && !error ? <Waiting rows={8} label={t('common.loading')} /> : null}
      {data ? <Boxes stats={data} /> : null}
      {data && details.data ? (
        <>
          <div className="mt-8 grid gap-8 lg:grid-cols-[3fr_2fr]">
            <OverTime details={details.data} />
            <div className="space-y-8">
              <OpenByKind open={data.open} />
              <OpenByAge ages={details.data.ages} />
            </div>
          </div>
          <Tallies title={t('insights.kinds')} tallies={details.data.kinds} nameOf={kindName} />
          <Tallies title={t('insights.people')} tallies={details.data.people} columns={OF_A_PERSON} />
          <Tallies
            title={t('insights.rules')}
            tallies={details.data.rules}
            nameOf={(rule) => rule || t('why.noRule')}
          />
        </>
      ) : null}
      {details.error ? <ProblemNotice error={details.error} again={() => void details.refetch()} /> : null}
    </Page>
  );
}

function Boxes({ stats }: { stats: Stats }) {
  const { t, i18n } = useTranslation();
  const open = Object.values(stats.open).reduce((sum, count) => sum + count, 0);
  const time = (seconds?: number | null) =>
    seconds === undefined || seconds === null ? '–' : span(seconds, i18n.language);
  const share = expiredShare(stats);
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Box name={t('insights.open')} value={open}>
        {stats.oldest_open_at ? (
          <>
            {t('insights.oldest')} <Ago at={stats.oldest_open_at} />
          </>
        ) : (
          t('insights.nothingOpen')
        )}
      </Box>
      <Box name={t('insights.p50')} value={time(stats.wait_seconds_p50)}>
        {t('insights.p95', { time: time(stats.wait_seconds_p95) })}
      </Box>
      <Box
        name={t('insights.expired')}
        value={
          share === undefined
            ? '–'
            : new Intl.NumberFormat(localeOf(i18n.language), { style: 'percent', maximumFractionDigits: 1 }).format(
                share,
              )
        }
        tone={shareTone(share)}
      >
        <ShareMeter share={share} />
      </Box>
      <Box name={t('insights.deliveries')} value={stats.deliveries_waiting}>
        {t('insights.deliveriesText')}
      </Box>
    </div>
  );
}

const TONES = { plain: '', good: '', warn: 'text-warn-ink', danger: 'text-danger-ink' };

function Box({
  name,
  value,
  tone = 'plain',
  children,
}: {
  name: string;
  value: ReactNode;
  tone?: keyof typeof TONES;
  children: ReactNode;
}) {
  return (
    <Card className="p-4">
      <div className="text-muted text-sm">{name}</div>
      <div className={cn('mt-1 font-semibold text-2xl tabular-nums tracking-tight', TONES[tone])}>{value}</div>
      <div className="mt-1 text-muted text-sm">{children}</div>
    </Card>
  );
}

function OpenByKind({ open }: { open: Record<string, number> }) {
  const { t } = useTranslation();
  const kindName = useKindName();
  const rows = Object.entries(open).sort(([, a], [, b]) => b - a);
  const icon = (kind: string) => <KindIcon kind={kind} className="size-4 text-muted" />;
  return (
    <Section title={t('insights.byKind')}>
      <Bars rows={rows.map(([kind, count]) => ({ key: kind, icon: icon(kind), name: kindName(kind), count }))} />
    </Section>
  );
}

function OpenByAge({ ages }: Pick<StatsDetails, 'ages'>) {
  const { t, i18n } = useTranslation();
  const rows = ages.map(({ younger_than_seconds: age, open }, at) => {
    const from = at > 0 ? (ages[at - 1]?.younger_than_seconds ?? 0) : 0;
    return { key: String(age), name: ageName(t, i18n.language, from, age), count: open };
  });
  return (
    <Section title={t('insights.byAge')}>
      <Bars rows={rows.some(({ count }) => count > 0) ? rows : []} />
    </Section>
  );
}

function ageName(t: TFunction, language: string, from: number, to?: number | null): string {
  if (!to) return t('insights.over', { time: span(from, language) });
  return from ? spanBetween(from, to, language) : t('insights.under', { time: span(to, language) });
}

function Bars({ rows }: { rows: { key: string; icon?: ReactNode; name: string; count: number }[] }) {
  const { t } = useTranslation();
  const most = Math.max(1, ...rows.map(({ count }) => count));
  return (
    <Card className="p-4">
      {rows.length === 0 ? <p className="text-muted">{t('insights.nothingOpen')}</p> : null}
      <ul className="space-y-3">
        {rows.map(({ key, icon, name, count }) => (
          <li key={key} className="grid grid-cols-[minmax(9.75rem,auto)_1fr_2rem] items-center gap-2">
            <span className="flex items-center gap-2 truncate">
              {icon}
              {name}
            </span>
            <svg
              aria-hidden="true"
              viewBox="0 0 100 8"
              preserveAspectRatio="none"
              className="h-2 w-full rounded-full bg-hover"
            >
              <rect width={(count / most) * 100} height="8" className="fill-accent" />
            </svg>
            <span className="text-right tabular-nums">{count}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
