import { TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
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

interface Shell {
  unparsed?: string;
  commands?: Command[];
  writes?: string[];
  reads?: string[];
  doubt?: string | null;
  [fact: string]: unknown;
}

const WARNINGS = [
  'elevated',
  'remote',
  'dynamic',
  'opaque',
  'substitutions',
  'background',
  'globs',
  'cwd_changed',
] as const;

/** What the server's own parsers made of the arguments: the parts, and what should make a reader look twice. */
export function Parsed({ parsed, shown }: { parsed: Record<string, unknown>; shown?: string }) {
  const { t } = useTranslation();
  const shell = parsed.shell as Shell | null;
  const url = parsed.url as Record<string, unknown> | null;
  const sql = parsed.sql as { unparsed?: string; verbs?: string[]; writes?: string[]; reads?: string[] } | null;
  const paths = (parsed.paths as { canonical?: string; escapes?: boolean; argument?: string }[] | null) ?? [];
  const unparsed = shell?.unparsed ?? sql?.unparsed ?? (url?.unparsed as string | undefined);
  const facts = [
    [t('parsed.writes'), [...(shell?.writes ?? []), ...(sql?.writes ?? [])]],
    [t('parsed.reads'), [...(shell?.reads ?? []), ...(sql?.reads ?? [])]],
    [t('parsed.paths'), paths.flatMap(({ canonical }) => (canonical && canonical !== shown ? [canonical] : []))],
    [t('parsed.verbs'), sql?.verbs ?? []],
    [t('parsed.host'), typeof url?.host === 'string' ? [`${url.method ?? ''} ${url.host}`.trim()] : []],
  ] as const;
  const warnings = WARNINGS.filter((name) => shell?.[name] === true);
  const commands = shell?.commands ?? [];
  const some = facts.some(([, values]) => values.length > 0);
  if (!some && !unparsed && warnings.length === 0 && commands.length === 0) return null;
  return (
    <div className="space-y-2.5 px-4 py-3 not-first:border-t">
      {unparsed ? (
        <p className="flex items-center gap-2 text-sm text-warn-ink">
          <TriangleAlert aria-hidden="true" className="size-4 shrink-0" />
          {t('parsed.unparsed', { reason: unparsed })}
        </p>
      ) : null}
      {commands.length > 0 ? <Commands commands={commands} /> : null}
      {warnings.length > 0 ? (
        <ul aria-label={t('parsed.warnings')} className="flex flex-wrap gap-1.5">
          {warnings.map((name) => (
            <li key={name}>
              <Badge tone="warn">{t(`parsed.facts.${name}`)}</Badge>
            </li>
          ))}
        </ul>
      ) : null}
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
