import { Lightbulb } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Interaction, Suggestion } from '@/api/types';
import { droppedOf, droppedReason } from '@/model/dropped';
import { AgentLine } from '@/ui/agent-text';
import { Section } from '@/ui/page';

interface Props {
  question: Interaction;
  onUse: (suggestion: Suggestion) => void;
}

/** Suggestions that fill in the answer; a person sends it. Suggestions left out are listed with their reasons. */
export function Suggestions({ question, onUse }: Props) {
  const { t } = useTranslation();
  const dropped = droppedOf(question.metadata);
  if (!question.suggestions?.length && dropped.length === 0) return null;
  return (
    <Section level={3} title={t('suggestions.title')}>
      <ul className="flex flex-wrap gap-2">
        {question.suggestions?.map((suggestion) => (
          <li key={suggestion.id}>
            <button
              type="button"
              title={t(`suggestions.sources.${suggestion.source}`)}
              onClick={() => onUse(suggestion)}
              className="inline-flex items-center gap-1.5 rounded-full border bg-surface px-3 py-1 text-sm shadow-card hover:bg-hover max-sm:py-2"
            >
              <Lightbulb aria-hidden="true" className="size-3.5 text-muted" />
              <AgentLine text={suggestion.label} />
              <span className="text-muted text-xs">{t(`suggestions.short.${suggestion.source}`)}</span>
            </button>
          </li>
        ))}
      </ul>
      {dropped.length > 0 ? (
        <details className="mt-2 text-sm">
          <summary className="text-muted">{t('suggestions.dropped', { count: dropped.length })}</summary>
          <ul className="mt-1 space-y-0.5 pl-4">
            {dropped.map(({ id, reason }) => (
              <li key={`${id} ${reason}`}>
                <code>
                  <AgentLine text={id} />
                </code>{' '}
                <span className="text-muted">
                  <AgentLine text={droppedReason(t, reason)} />
                </span>
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </Section>
  );
}
