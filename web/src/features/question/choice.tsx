import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Interaction } from '@/api/types';
import { cn } from '@/lib/cn';
import { OptionWords } from '@/ui/option-words';

interface Props {
  question: Interaction;
  picked: string[];
  disabled: boolean;
  onChange: (picked: string[]) => void;
}

/** Options of a choice with cost and risk. Nothing is preselected. */
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
