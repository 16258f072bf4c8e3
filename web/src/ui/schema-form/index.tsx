import Form from '@rjsf/core';
import { type RJSFSchema, type RJSFValidationError, toErrorSchema, type UiSchema } from '@rjsf/utils';
import { CatchBoundary } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { forFields, writeJson } from '@/lib/exact';
import { AgentLine } from '@/ui/agent-text';
import { CheckboxesWidget, CheckboxWidget, MaybeWidget, RadioWidget, SelectWidget } from './choices';
import { controlsFor, ending, fieldPath } from './controls';
import { ANYTHING, drawable, withoutEmpty } from './drawable';
import { exactly } from './exactly';
import { FileWidget } from './file';
import { patternless } from './patternless';
import {
  ArrayFieldItemTemplate,
  ArrayFieldTemplate,
  DescriptionFieldTemplate,
  FieldTemplate,
  MultiSchemaFieldTemplate,
  ObjectFieldTemplate,
} from './templates';
import { validator } from './validator';
import { DateTimeWidget, JsonField, ToggleWidget } from './widgets';
import { useFormTexts, useWords } from './words';

export type UnfinishedJson = Record<string, string>;

interface Props {
  id: string;
  schema: RJSFSchema;
  value: unknown;
  /** Other values that the fields must be able to hold. */
  samples?: readonly unknown[];
  /**
   * Only numbers that JavaScript can represent are allowed in JSON fields, because other numbers are edited elsewhere.
   */
  common?: boolean;
  disabled?: boolean;
  /** Errors from elsewhere, by the path of the field. */
  refused?: Record<string, string>;
  /** Unfinished JSON by the path of its field. It is not part of the value. */
  unread?: UnfinishedJson;
  onUnread?: (unread?: UnfinishedJson) => void;
  /** The form can be submitted from now on. */
  onReady?: () => void;
  onChange: (value: unknown) => void;
  onSubmit: (value: unknown) => void;
}

const TEMPLATES = {
  DescriptionFieldTemplate,
  FieldTemplate,
  ObjectFieldTemplate,
  ArrayFieldTemplate,
  ArrayFieldItemTemplate,
  MultiSchemaFieldTemplate,
};
const WIDGETS = {
  CheckboxesWidget,
  CheckboxWidget,
  DateTimeWidget,
  FileWidget,
  MaybeWidget,
  RadioWidget,
  SelectWidget,
  ToggleWidget,
};
const FIELDS = { JsonField };

/**
 * Form drawn from a JSON Schema. Its buttons are outside and submit it by its id. A form that cannot be drawn is
 * written as JSON.
 */
export default function SchemaForm(props: Props) {
  return (
    <CatchBoundary getResetKey={() => props.id} errorComponent={() => <FormFields {...props} drawn={ANYTHING} />}>
      <FormFields {...props} drawn={props.schema} />
    </CatchBoundary>
  );
}

/** Draws the fields of `drawn`. The value is validated against `schema` in any case. */
function FormFields(props: Props & { drawn: RJSFSchema }) {
  const { drawn } = props;
  const { id, schema, value, samples = [], common = false, disabled, refused, onReady, onChange, onSubmit } = props;
  const words = useWords();
  const translateString = useFormTexts();
  const { t } = useTranslation();
  const [homeless, setHomeless] = useState<string[]>([]);
  const ready = useRef(onReady);
  useEffect(() => ready.current?.(), []);
  // The controls depend on the schema and the initial value only, so that a field does not change while typing. The
  // schema is compared as text, because exact numbers make every parsed schema a new object.
  const schemaText = writeJson(schema);
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const { exact, whole, clean, controls } = useMemo(() => {
    const exact = exactly(withoutEmpty(patternless(drawn)), [value, ...samples]);
    const controls = {
      ...controlsFor(exact.schema, exact.encode(value)),
      'ui:submitButtonOptions': { norender: true },
    };
    const { $id, $schema, ...whole } = drawn === schema ? exact.schema : (forFields(patternless(schema)) as RJSFSchema);
    return { exact, whole, clean: drawable(ending(exact.schema)), controls };
  }, [schemaText]);
  const check = useMemo(
    () =>
      validator(words, {
        whole,
        more: exact.flaws,
        field: (path) => fieldPath(controls, path),
      }),
    [words, exact, whole, controls],
  );
  const filled = useMemo(() => exact.encode(value), [exact, value]);
  const extra = useMemo(() => toErrorSchema(elsewhere(refused ?? {}, controls)), [refused, controls]);
  const unread = useUnread(props);
  const context = useMemo(() => ({ common, ...unread }), [common, unread]);
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
      translateString={translateString}
      noHtml5Validate
      extraErrors={extra}
      showErrorList={false}
      focusOnFirstError
      experimental_defaultFormStateBehavior={{ constAsDefaults: 'never', emptyObjectFields: 'skipEmptyDefaults' }}
      formContext={context}
      onChange={(event, ...field) => {
        setHomeless([]);
        // Values that the form library filled in by itself are sent, but are not part of the draft.
        if (field.length > 0) onChange(exact.decode(event.formData));
      }}
      onError={(errors) => setHomeless(unseen(id, errors))}
      onSubmit={(event) => {
        setHomeless([]);
        onSubmit(exact.decode(event.formData));
      }}
    >
      {homeless.length > 0 ? (
        <div role="alert" className="mt-4 text-danger-ink text-sm">
          <p>{t('form.otherErrors')}</p>
          <ul className="list-disc pl-5">
            {homeless.map((line) => (
              <li key={line}>
                <AgentLine text={line} />
              </li>
            ))}
          </ul>
        </div>
      ) : null}
    </Form>
  );
}

/** Unfinished JSON: its initial text for each field, and a function with which a field reports it. */
function useUnread({ unread, onUnread }: Pick<Props, 'unread' | 'onUnread'>) {
  const now = useRef({ unread, onUnread });
  now.current = { unread, onUnread };
  return useMemo(
    () => ({
      unreadAt: (path: string) => now.current.unread?.[path],
      tellUnread: (path: string, text?: string) => {
        const { unread = {}, onUnread } = now.current;
        if (unread[path] === text) return;
        const { [path]: _, ...rest } = unread;
        const all = text === undefined ? rest : { ...rest, [path]: text };
        const next = Object.keys(all).length > 0 ? all : undefined;
        // Several fields may report in one render.
        now.current = { unread: next, onUnread };
        onUnread?.(next);
      },
    }),
    [],
  );
}

/** Errors that no field shows. Without these lines, the form would refuse to be sent without a reason. */
function unseen(id: string, errors: RJSFValidationError[]): string[] {
  const form = document.getElementById(id);
  const lines = errors.flatMap(({ params, message = '' }) => {
    const path: unknown = params?.path;
    if (!Array.isArray(path)) return [];
    const field = form?.querySelector(`[data-field="${CSS.escape([id, ...path].join('_'))}"]`);
    const said = field && !field.closest('[hidden]') && field.querySelector(':scope > [role="alert"]');
    return said ? [] : [[path.join(' › '), message].filter(Boolean).join(': ')];
  });
  return [...new Set(lines)];
}

function elsewhere(refused: Record<string, string>, controls: UiSchema): RJSFValidationError[] {
  return Object.entries(refused).map(([path, message]) => ({
    message,
    property: fieldPath(controls, path.split('/'))
      .map((part) => `.${part}`)
      .join(''),
    stack: message,
  }));
}
