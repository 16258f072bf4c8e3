import { useQuery } from '@tanstack/react-query';
import { FileText, SquareTerminal, Wrench } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { explainQuery } from '@/api/queries';
import type { Interaction, Json } from '@/api/types';
import { oneLine } from '@/lib/text';
import { subjectOf, type Word } from '@/model/subject';
import { AgentLine, AgentText } from './agent-text';
import { JsonTable } from './json';
import { Card, Waiting } from './page';
import { Parsed } from './parsed';

const Diff = lazy(() => import('./editor/diff'));

/** The subject of a call: a command, a file change, SQL, or the arguments. */
export function Subject({ question }: { question: Interaction }) {
  const { action } = question;
  const { data: explained } = useQuery({
    ...explainQuery({ tool: action?.tool ?? '', arguments: (action?.arguments ?? {}) as Json, agent: question.agent }),
    enabled: action !== undefined && action !== null,
  });
  if (!action) return null;
  const values = action.arguments as Record<string, unknown>;
  const subject = subjectOf({ tool: action.tool, arguments: values }, question.context, question.driven);
  const rest = Object.fromEntries(Object.entries(values).filter(([name]) => !subject.drawn.includes(name)));
  const Icon = subject.is === 'command' ? SquareTerminal : subject.is === 'file' ? FileText : Wrench;
  return (
    <Card className="overflow-hidden">
      <header className="flex items-center gap-2.5 border-b bg-sunken px-4 py-2">
        <Icon aria-hidden="true" className="size-4 text-muted" />
        <code className="font-semibold text-sm">
          <AgentLine text={action.tool} />
        </code>
      </header>
      {subject.is === 'command' || subject.is === 'sql' ? (
        <AgentText mono text={subject.text} className="px-4 py-3.5 text-base" lines={24} />
      ) : null}
      {subject.is === 'file' ? <FileChange {...subject} /> : null}
      {explained ? (
        <Parsed
          parsed={explained.parsed as Record<string, unknown>}
          shown={subject.is === 'file' ? subject.path : undefined}
        />
      ) : null}
      {Object.keys(rest).length > 0 ? (
        <div className="px-4 py-2 not-first:border-t">
          <JsonTable value={rest} />
        </div>
      ) : null}
    </Card>
  );
}

type Change = { path: string; before?: string; word: Word; after: string };

function FileChange({ path, before, word, after }: Change) {
  const { t } = useTranslation();
  const lines = after.replace(/\n$/u, '').split('\n').length;
  return (
    <div>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 border-b px-4 py-2">
        <AgentText mono text={path} characters={240} lines={3} className="min-w-0 font-medium" />
        <span className="text-muted text-xs">
          {before === undefined
            ? t('question.whole', { count: lines })
            : word === 'agent'
              ? t('question.changeClaimed', { count: lines })
              : t(word === 'server' ? 'question.changeRead' : 'question.change')}
        </span>
      </div>
      {before === undefined ? (
        <AgentText mono text={after} className="px-4 py-3" />
      ) : (
        <Suspense fallback={<Waiting label={t('common.loading')} />}>
          <div className="max-h-[28rem] overflow-auto">
            <Diff
              before={before}
              after={after}
              whole={word === 'agent'}
              label={t('question.changeOf', { path: oneLine(path) })}
            />
          </div>
        </Suspense>
      )}
    </div>
  );
}
