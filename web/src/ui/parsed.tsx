import { TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { doubtsOf, type Facts, risksOf } from '@/model/risks';
import { quoted } from '@/model/subject';
import { AgentLine } from './agent-text';
import { Badge } from './badge';

interface Command {
  program: string;
  args: string[];
  assignments: { name: string; value: string }[];
  redirects: unknown[];
  via: string[];
}

type Read = Facts & {
  shell?: { commands?: Command[]; writes?: string[]; reads?: string[] } | null;
  url?: { host?: string; method?: string } | null;
  sql?: { verbs?: string[]; writes?: string[]; reads?: string[] } | null;
};

/** What the server's own parsers made of the arguments: the parts, and what should make a reader look twice. */
export function Parsed({ parsed, shown }: { parsed: Record<string, unknown>; shown?: string }) {
  const { t } = useTranslation();
  const { shell, url, sql, paths } = parsed as Read;
  const { unparsed, doubted } = doubtsOf(parsed as Facts);
  const facts = [
    [t('parsed.writes'), [...(shell?.writes ?? []), ...(sql?.writes ?? [])]],
    [t('parsed.reads'), [...(shell?.reads ?? []), ...(sql?.reads ?? [])]],
    [
      t('parsed.paths'),
      (paths ?? []).flatMap(({ canonical }) => (canonical && canonical !== shown ? [canonical] : [])),
    ],
    [t('parsed.verbs'), sql?.verbs ?? []],
    [t('parsed.host'), url?.host === undefined ? [] : [`${url.method ?? ''} ${url.host}`.trim()]],
  ] as const;
  const risks = risksOf(parsed as Facts);
  const commands = shell?.commands ?? [];
  const some = facts.some(([, values]) => values.length > 0);
  const doubts = [
    ...unparsed.map((reason) => t('parsed.unparsed', { reason })),
    ...doubted.map((reason) => t('parsed.doubt', { reason })),
  ];
  if (!some && doubts.length === 0 && risks.length === 0 && commands.length === 0) return null;
  return (
    <div className="space-y-2.5 px-4 py-3 not-first:border-t">
      {doubts.map((doubt) => (
        <p key={doubt} className="flex gap-2 text-sm text-warn-ink">
          <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
          <AgentLine text={doubt} />
        </p>
      ))}
      {commands.length > 0 ? <Commands commands={commands} /> : null}
      <Risks parsed={parsed} />
      {some ? (
        <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
          {facts
            .filter(([, values]) => values.length > 0)
            .map(([name, values]) => (
              <div key={name} className="contents">
                <dt className="text-muted">{name}</dt>
                <dd className="min-w-0">
                  {values.map((value) => (
                    <code key={value} className="mr-3 [overflow-wrap:anywhere]">
                      <AgentLine text={value} />
                    </code>
                  ))}
                </dd>
              </div>
            ))}
        </dl>
      ) : null}
    </div>
  );
}

/** What should make a reader look twice. */
export function Risks({ parsed }: { parsed: Record<string, unknown> }) {
  const { t } = useTranslation();
  const risks = risksOf(parsed as Facts);
  if (risks.length === 0) return null;
  return (
    <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1.5">
      <span className="text-muted text-sm">{t('parsed.risks')}</span>
      <ul aria-label={t('parsed.risks')} className="flex flex-wrap gap-1.5">
        {risks.map((name) => (
          <li key={name}>
            <Badge tone="warn">{t(`parsed.facts.${name}`)}</Badge>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Commands({ commands }: { commands: Command[] }) {
  const { t } = useTranslation();
  return (
    <ol aria-label={t('parsed.commands')} className="space-y-1">
      {commands.map((command, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one command never move
        <li key={at} className="flex gap-2.5 text-sm">
          <span className="w-4 shrink-0 text-right text-muted tabular-nums">{at + 1}</span>
          <code className="min-w-0 [overflow-wrap:anywhere]">
            {command.assignments.map(({ name, value }) => (
              <span key={name} className="text-muted">
                <AgentLine text={`${name}=${value} `} />
              </span>
            ))}
            <span className="font-semibold">
              <AgentLine text={command.program} />
            </span>{' '}
            <AgentLine text={command.args.map(quoted).join(' ')} />
            {command.via.length > 0 ? (
              <span className="text-muted"> ({t('parsed.via', { via: command.via.join(' → ') })})</span>
            ) : null}
          </code>
        </li>
      ))}
    </ol>
  );
}
