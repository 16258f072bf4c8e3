import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { Interaction } from '@/api/types';
import { fieldOf, type Inputs } from '@/model/moves';
import { Field, Textarea } from '@/ui/field';
import { Waiting } from '@/ui/page';
import { Choice } from './choice';
import { flawsAt } from './flaws';
import { Secrets } from './secrets';

const SchemaForm = lazy(() => import('@/ui/schema-form'));

interface Props {
  id: string;
  question: Interaction;
  inputs: Inputs;
  disabled: boolean;
  /** Error of the server after a refused answer. */
  error?: unknown;
  onChange: (part: Partial<Inputs>) => void;
  onReady: () => void;
  onSubmit: (data: unknown) => void;
}

/** Inputs of an answer besides its buttons: a form, secrets, the options of a choice, or a text. */
export function Fields({ id, question, inputs, disabled, error, onChange, onReady, onSubmit }: Props) {
  const { t } = useTranslation();
  switch (fieldOf(question)) {
    case 'form':
      return (
        <Suspense fallback={<Waiting label={t('common.loading')} />}>
          <SchemaForm
            id={id}
            schema={question.schema ?? {}}
            value={inputs.data}
            samples={question.suggestions?.map(({ data }) => data)}
            disabled={disabled}
            refused={flawsAt(t, error)}
            unread={inputs.unread}
            onChange={(data) => onChange({ data })}
            onUnread={(unread) => onChange({ unread })}
            onReady={onReady}
            onSubmit={onSubmit}
          />
        </Suspense>
      );
    case 'secret':
      return (
        <Secrets
          id={id}
          question={question}
          disabled={disabled}
          keep={inputs.keep}
          wrong={flawsAt(t, error)}
          onKeep={(keep) => onChange({ keep })}
          onSubmit={onSubmit}
        />
      );
    case 'choice':
      return (
        <Choice
          question={question}
          picked={inputs.picked}
          disabled={disabled}
          onChange={(picked) => onChange({ picked })}
        />
      );
    case 'text':
      return (
        <Field label={t('answer.text')}>
          {(ids) => (
            <Textarea
              {...ids}
              rows={4}
              value={inputs.text}
              disabled={disabled}
              onChange={(event) => onChange({ text: event.target.value })}
            />
          )}
        </Field>
      );
    case 'none':
      return null;
  }
}
