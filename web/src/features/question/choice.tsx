import { TriangleAlert } from 'lucide-react';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Interaction, Option } from '@/api/types';
import { cn } from '@/lib/cn';
import { AgentLine, AgentText } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';

interface Props {
  question: Interaction;
  picked: string[];
  disabled: boolean;
  onChange: (picked: string[]) => void;
}

/** One or many of several options, each with what it costs and what could go wrong. Nothing is chosen beforehand. */
export function Choice({ question, picked, disabled, onChange }: Props) {
  const { t } = useTranslation();
  const name = useId();
  const options = [
    ...question.options.filter((one) => !one.dangerous),
    ...question.options.filter((one) => one.dangerous),
  ];
  const toggle = (id: string) => {
    if (!question.multiple) onChange([id]);
    else onChange(picked.includes(id) ? picked.filter((one) => one !== id) : [...picked, id]);
  };
  return (
    <fieldset className="space-y-2" disabled={disabled}>
      <legend className="mb-2 font-medium text-sm">
        {question.multiple ? t('answer.chooseMany') : t('answer.chooseOne')}
      </legend>
      {options.map((option) => (
        <label
          key={option.id}
          className={cn(
            'flex items-start gap-3 rounded-lg border bg-surface p-3.5 shadow-card hover:bg-hover has-focus-visible:outline-2 has-focus-visible:outline-accent',
            picked.includes(option.id) && 'border-accent bg-accent-soft hover:bg-accent-soft',
            option.dangerous && 'border-danger/40',
          )}
        >
          <input
            type={question.multiple ? 'checkbox' : 'radio'}
            name={name}
            className="mt-0.5 shrink-0"
            checked={picked.includes(option.id)}
            onChange={() => toggle(option.id)}
          />
          <OptionWords option={option} />
        </label>
      ))}
    </fieldset>
  );
}

function OptionWords({ option }: { option: Option }) {
  const { t } = useTranslation();
  const facts = [
    [t('answer.risk'), option.risk],
    [t('answer.cost'), option.cost],
    [t('answer.duration'), option.duration],
  ].filter((fact): fact is [string, string] => Boolean(fact[1]));
  return (
    <span className="min-w-0 flex-1 space-y-1">
      <span className="flex flex-wrap items-center gap-2 font-medium">
        <AgentLine text={option.label} />
        {option.recommended ? <Badge tone="accent">{t('answer.recommended')}</Badge> : null}
        {option.dangerous ? (
          <Badge tone="danger">
            <TriangleAlert aria-hidden="true" />
            {t('answer.dangerousShort')}
          </Badge>
        ) : null}
      </span>
      {option.description ? <AgentText text={option.description} className="text-muted" /> : null}
      {facts.length > 0 ? (
        <span className="flex flex-wrap gap-x-4 gap-y-0.5 text-sm">
          {facts.map(([name, text]) => (
            <span key={name}>
              <span className="text-muted">{name}: </span>
              <AgentLine text={text} />
            </span>
          ))}
        </span>
      ) : null}
    </span>
  );
}
