import { TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Option } from '@/api/types';
import { moveLabel } from '@/model/labels';
import { AgentLine, AgentText } from './agent-text';
import { Badge } from './badge';

/** Label of an option with its marks (recommended, dangerous) and description. */
export function OptionWords({ option }: { option: Option }) {
  const { t } = useTranslation();
  return (
    <div className="min-w-0 flex-1 space-y-1">
      <div className="flex flex-wrap items-center gap-2 font-medium">
        <AgentLine text={moveLabel(t, option)} />
        {option.recommended ? <Badge tone="accent">{t('answer.recommended')}</Badge> : null}
        {option.dangerous ? (
          <Badge tone="danger">
            <TriangleAlert aria-hidden="true" />
            {t('answer.dangerousShort')}
          </Badge>
        ) : null}
      </div>
      {option.description ? <AgentText text={option.description} className="text-muted" /> : null}
      <OptionFacts option={option} />
    </div>
  );
}

/** Risk, cost and duration of an option. */
export function OptionFacts({ option }: { option: Option }) {
  const { t } = useTranslation();
  const facts = [
    [t('answer.risk'), option.risk],
    [t('answer.cost'), option.cost],
    [t('answer.duration'), option.duration],
  ].filter((fact): fact is [string, string] => Boolean(fact[1]));
  if (facts.length === 0) return null;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-0.5 text-sm">
      {facts.map(([name, text]) => (
        <div key={name} className="contents">
          <dt className="opacity-80">{name}</dt>
          <dd className="min-w-0">
            <AgentText text={text} characters={400} lines={6} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
