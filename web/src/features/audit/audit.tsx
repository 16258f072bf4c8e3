import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Download, ScrollText } from 'lucide-react';
import { useId, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { type AuditFilter, auditQuery, meQuery } from '@/api/queries';
import { serverNow } from '@/lib/clock';
import { buttonLook } from '@/ui/button';
import { Input, Select } from '@/ui/field';
import { More } from '@/ui/more';
import { Card, Empty, Page, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { Entry } from './entry';
import { SigningKey } from './signing-key';

type Period = 'hour' | 'day' | 'week' | 'month' | 'all';
type Filter = Pick<AuditFilter, 'type' | 'by' | 'session' | 'interaction'>;

const HOUR = 3_600_000;
const LENGTH: Record<Period, number> = { hour: HOUR, day: 24 * HOUR, week: 168 * HOUR, month: 720 * HOUR, all: 0 };

interface Props {
  filter: Filter;
  period: Period;
  periods: readonly Period[];
  onChange: (change: Filter & { period?: Period }) => void;
}

/** Audit entries, newest first. */
export function Audit({ filter, period, periods, onChange }: Props) {
  const { t } = useTranslation();
  const since = useMemo(() => {
    const length = LENGTH[period];
    return length === 0 ? undefined : new Date(Math.floor((serverNow() - length) / 60_000) * 60_000).toISOString();
  }, [period]);
  const query = useInfiniteQuery(auditQuery({ ...filter, since, sort: 'newest' }));
  const { data, error, isPending, refetch } = query;
  const entries = data?.pages.flatMap((page) => page.entries) ?? [];
  const { data: me } = useQuery(meQuery());
  const types = useTypes(entries.map((entry) => entry.type));
  const list = useId();
  return (
    <Page
      title={t('nav.audit')}
      about={t('audit.about')}
      actions={
        me?.role === 'admin' ? (
          <a
            className={buttonLook({})}
            download="holdpoint-audit.jsonl"
            href={`/v1/audit/export${since ? `?since=${encodeURIComponent(since)}` : ''}`}
          >
            <Download aria-hidden="true" />
            {since ? t('audit.exportPeriod') : t('audit.exportAll')}
          </a>
        ) : null
      }
    >
      <SigningKey />
      <div className="my-5 grid gap-2 sm:grid-cols-[12rem_1fr_1fr]">
        <Select
          aria-label={t('audit.period')}
          value={period}
          onChange={(event) => onChange({ period: event.target.value as Period })}
        >
          {periods.map((name) => (
            <option key={name} value={name}>
              {t(`audit.periods.${name}`)}
            </option>
          ))}
        </Select>
        <Input
          type="search"
          aria-label={t('audit.type')}
          placeholder={t('audit.typeHint')}
          list={list}
          defaultValue={filter.type ?? ''}
          onBlur={(event) => onChange({ type: event.target.value || undefined })}
          onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
        />
        <Input
          type="search"
          aria-label={t('audit.by')}
          placeholder={t('audit.by')}
          defaultValue={filter.by ?? ''}
          onBlur={(event) => onChange({ by: event.target.value || undefined })}
          onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
        />
      </div>
      <datalist id={list}>
        {types.map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      {error && !data ? <ProblemNotice error={error} again={() => void refetch()} /> : null}
      {isPending ? <Waiting rows={8} label={t('common.loading')} /> : null}
      {data && entries.length === 0 ? (
        <Empty icon={ScrollText} title={t('audit.none')}>
          <p>{t('audit.noneText')}</p>
        </Empty>
      ) : null}
      {entries.length > 0 ? (
        <Card>
          <ol className="divide-y">
            {entries.map((entry) => (
              <Entry key={entry.id} entry={entry} />
            ))}
          </ol>
        </Card>
      ) : null}
      <More query={query} />
    </Page>
  );
}

/** Entry types seen so far, including those hidden by the filter. */
function useTypes(now: string[]): string[] {
  const seen = useRef(new Set<string>());
  for (const type of now) seen.current.add(type);
  return [...seen.current].sort();
}
