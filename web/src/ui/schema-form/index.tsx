import Form from '@rjsf/core';
import { type RJSFSchema, type RJSFValidationError, toErrorSchema } from '@rjsf/utils';
import { useEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { writeJson } from '@/lib/exact';
import { controlsFor } from './controls';
import { drawable } from './drawable';
import { exactly } from './exactly';
import {
  ArrayFieldItemTemplate,
  ArrayFieldTemplate,
  FieldTemplate,
  MultiSchemaFieldTemplate,
  ObjectFieldTemplate,
} from './templates';
import { validator, type Words } from './validator';
import { DateTimeWidget, JsonField, ToggleWidget } from './widgets';

interface Props {
  id: string;
  schema: RJSFSchema;
  value: unknown;
  /** What else may be filled in: fields are made so that they can hold it. */
  samples?: readonly unknown[];
  disabled?: boolean;
  /** What was found wrong elsewhere, by the path of its field. */
  refused?: Record<string, string>;
  /** The form can be submitted from now on. */
  onReady?: () => void;
  onChange: (value: unknown) => void;
  onSubmit: (value: unknown) => void;
}

const TEMPLATES = {
  FieldTemplate,
  ObjectFieldTemplate,
  ArrayFieldTemplate,
  ArrayFieldItemTemplate,
  MultiSchemaFieldTemplate,
};
const WIDGETS = { DateTimeWidget, ToggleWidget };
const FIELDS = { JsonField };

/** A form drawn from JSON Schema. Its buttons stand outside and submit it by its id. */
export default function SchemaForm(props: Props) {
  const { id, schema, value, samples = [], disabled, refused, onReady, onChange, onSubmit } = props;
  const words = useWords();
  const ready = useRef(onReady);
  useEffect(() => ready.current?.(), []);
  // The controls are those of the schema and of what was there at first: a field does not change under the writer's hands.
  // Numbers that are kept as they were written make another object of the same schema each time that it is read.
  const told = writeJson(schema);
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const { exact, clean, controls } = useMemo(() => {
    const exact = exactly(schema, [value, ...samples]);
    const controls = {
      ...controlsFor(exact.schema, exact.encode(value)),
      'ui:submitButtonOptions': { norender: true },
    };
    return { exact, clean: drawable(exact.schema), controls };
  }, [told]);
  const check = useMemo(() => validator(words, exact.flaws), [words, exact]);
  const filled = useMemo(() => exact.encode(value), [exact, value]);
  const extra = useMemo(() => toErrorSchema(elsewhere(refused ?? {})), [refused]);
  return (
    <Form
      id={id}
      idPrefix={id}
      className="schema-form"
      schema={clean}
      uiSchema={controls}
      formData={filled}
      validator={check}
      disabled={disabled}
      templates={TEMPLATES}
      widgets={WIDGETS}
      fields={FIELDS}
      noHtml5Validate
      extraErrors={extra}
      showErrorList={false}
      focusOnFirstError
      experimental_defaultFormStateBehavior={{ constAsDefaults: 'never', emptyObjectFields: 'skipEmptyDefaults' }}
      onChange={(event) => onChange(exact.decode(event.formData))}
      onError={() => undefined}
      onSubmit={(event) => onSubmit(exact.decode(event.formData))}
    />
  );
}

function useWords(): Words {
  const { t } = useTranslation();
  return useMemo(
    () => (keyword, limit) =>
      t(`form.wrong.${keyword}` as 'form.wrong.minLength', {
        defaultValue: t('form.wrong.other'),
        limit: typeof limit === 'object' ? '' : String(limit),
      }),
    [t],
  );
}

function elsewhere(refused: Record<string, string>): RJSFValidationError[] {
  return Object.entries(refused).map(([path, message]) => ({
    message,
    property: path
      .split('/')
      .map((part) => `.${part}`)
      .join(''),
    stack: message,
  }));
}
