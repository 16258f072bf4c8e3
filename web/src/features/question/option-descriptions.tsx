import { useTranslation } from 'react-i18next';
import type { Interaction, Option } from '@/api/types';
import { fieldOf } from '@/model/moves';
import { OptionWords } from '@/ui/option-words';

/** Descriptions of the options, shown above their buttons because tooltips are hard to find. */
export function OptionDescriptions({ question }: { question: Interaction }) {
  const { t } = useTranslation();
  const described = fieldOf(question) === 'choice' ? [] : question.options.filter(hasDescription);
  if (described.length === 0) return null;
  return (
    <ul aria-label={t('answer.options')} className="divide-y rounded-lg border bg-surface shadow-card">
      {described.map((option) => (
        <li key={option.id} className="px-4 py-3">
          <OptionWords option={option} />
        </li>
      ))}
    </ul>
  );
}

function hasDescription({ description, risk, cost, duration, recommended }: Option): boolean {
  return Boolean(description || risk || cost || duration || recommended);
}
