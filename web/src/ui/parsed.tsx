import { TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { doubtsOf, type Facts, risksOf } from '@/model/risks';
import { quoted } from '@/model/subject';
import { AgentLine, AgentText } from './agent-text';
import { Badge } from './badge';
import { useCapped } from './capped';

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

/** Arguments as the server parsed them, with their risks. */
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
                  <Values values={values} />
                </dd>
              </div>
            ))}
        </dl>
      ) : null}
    </div>
  );
}

/** Risk labels of a call. */
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

/** Longer texts are folded, since one part can be as long as the whole call. */
const LONG = 240;

function Values({ values }: { values: readonly string[] }) {
  const { shown, more } = useCapped([...new Set(values)]);
  return (
    <>
      <ul className="flex flex-wrap gap-x-3">
        {shown.map((value) => (
          <li key={value} className="min-w-0">
            <AgentText mono text={value} characters={LONG} lines={3} />
          </li>
        ))}
      </ul>
      {more}
    </>
  );
}

function Commands({ commands }: { commands: Command[] }) {
  const { t } = useTranslation();
  const { shown, more } = useCapped(commands);
  return (
    <div>
      <ol aria-label={t('parsed.commands')} className="space-y-1">
        {shown.map((command, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one command never move
          <li key={at} className="flex gap-2.5 text-sm">
            <span className="w-4 shrink-0 text-right text-muted tabular-nums">{at + 1}</span>
            <div className="min-w-0">
              <CommandWords command={command} />
            </div>
          </li>
        ))}
      </ol>
      {more}
    </div>
  );
}

function CommandWords({ command }: { command: Command }) {
  const { t } = useTranslation();
  const { program, via } = command;
  const set = command.assignments.map(({ name, value }) => `${name}=${value} `).join('');
  const args = command.args.map(quoted).join(' ');
  const through = via.length > 0 ? ` (${t('parsed.via', { via: via.join(' → ') })})` : '';
  if (set.length + program.length + args.length + through.length > 2 * LONG)
    return <AgentText mono text={`${set}${program} ${args}${through}`} characters={LONG} lines={3} />;
  return (
    <code className="[overflow-wrap:anywhere]">
      <span className="text-muted">
        <AgentLine text={set} />
      </span>
      <span className="font-semibold">
        <AgentLine text={program} />
      </span>{' '}
      <AgentLine text={args} />
      <span className="text-muted">
        <AgentLine text={through} />
      </span>
    </code>
  );
}
