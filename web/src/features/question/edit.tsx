import { useQuery } from '@tanstack/react-query';
import { Tabs } from 'radix-ui';
import { lazy, Suspense, useEffect, useId, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { actionSchemaQuery } from '@/api/queries';
import type { Interaction } from '@/api/types';
import { forFields, showJson } from '@/lib/exact';
import { editOf, joined, schemaWithout, split, withSeen } from '@/model/edit';
import { isValues } from '@/model/subject';
import Editor from '@/ui/editor/editor';
import { JsonTable } from '@/ui/json';
import { Notice, Section, Waiting } from '@/ui/page';
import SchemaForm from '@/ui/schema-form';
import { schemaOf } from '@/ui/schema-form/controls';
import { flawsAt } from './flaws';

const Diff = lazy(() => import('@/ui/editor/diff'));

interface Props {
  question: Interaction;
  /** Arguments as JSON text, once edited. */
  edited?: string;
  /** Element that had the focus when editing started. */
  opener: Element | null;
  disabled: boolean;
  /** Error of the server after a refused answer. */
  error?: unknown;
  onChange: (edited: string) => void;
}

/** Editor for the arguments, as fields or JSON, with a diff against the proposed ones. */
export default function Edit(props: Props) {
  const { t } = useTranslation();
  const { data, isPending } = useQuery(actionSchemaQuery(props.question.id));
  // The fields are built once from the initial value, so that they do not change while typing.
  return isPending ? <Waiting label={t('common.loading')} /> : <Editing {...props} declared={data ?? undefined} />;
}

function Editing({ question, edited, opener, disabled, error, declared, onChange }: Props & { declared?: object }) {
  const { t } = useTranslation();
  const edit = useMemo(() => editOf(question, edited), [question, edited]);
  const area = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The fields load lazily; the focus moves only if the person has not moved it.
    const now = document.activeElement;
    if (now === opener || now?.contains(area.current))
      area.current?.querySelector<HTMLElement>('textarea, input, select')?.focus();
  }, [opener]);
  const tab =
    'rounded-sm px-2.5 py-1 font-medium text-muted text-sm data-[state=active]:bg-surface data-[state=active]:text-ink data-[state=active]:shadow-card';
  return (
    <div ref={area} className="space-y-4">
      <Tabs.Root defaultValue="fields">
        <Tabs.List aria-label={t('edit.how')} className="mb-3 inline-flex gap-1 rounded-md bg-hover p-1">
          <Tabs.Trigger value="fields" className={tab}>
            {t('edit.fields')}
          </Tabs.Trigger>
          <Tabs.Trigger value="json" className={tab}>
            JSON
          </Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="fields">
          {edit.values ? (
            <Fields
              question={question}
              declared={declared}
              values={edit.values}
              disabled={disabled}
              refused={flawsAt(t, error, 'arguments')}
              onChange={onChange}
            />
          ) : (
            <Notice tone="warn">{t('edit.notJson')}</Notice>
          )}
        </Tabs.Content>
        <Tabs.Content value="json">
          <div className="max-h-96 overflow-auto rounded-md border bg-surface">
            <Editor value={edit.text} language="json" label={t('edit.json')} readOnly={disabled} onChange={onChange} />
          </div>
          {edit.values ? null : <p className="mt-1.5 text-danger-ink text-sm">{t('edit.notObject')}</p>}
        </Tabs.Content>
      </Tabs.Root>
      {edit.changed && edit.values ? (
        <Section level={3} title={t('edit.changes')}>
          <Suspense fallback={<Waiting rows={2} label={t('common.loading')} />}>
            <div className="max-h-80 overflow-auto rounded-md border bg-surface">
              <Diff before={edit.before} after={showJson(edit.values)} label={t('edit.changes')} />
            </div>
          </Suspense>
        </Section>
      ) : (
        <p className="text-muted text-sm">{t('edit.nothingChanged')}</p>
      )}
    </div>
  );
}

interface FieldsProps {
  question: Interaction;
  /** Schema of the arguments, if known. */
  declared?: object;
  values: Record<string, unknown>;
  disabled: boolean;
  refused: Record<string, string>;
  onChange: (edited: string) => void;
}

/** One field per argument; numbers that a field cannot hold exactly are read-only and edited as JSON. */
function Fields({ question, declared, values, disabled, refused, onChange }: FieldsProps) {
  const { t } = useTranslation();
  const id = useId();
  const { fields, beyond } = split(values);
  // A string, so that the schema is recomputed only if the names change.
  const left = JSON.stringify(Object.keys(beyond));
  const schema = useMemo(() => {
    const asked = (question.action?.arguments ?? {}) as Record<string, unknown>;
    const seen = schemaOf(forFields(asked)) as Record<string, unknown>;
    const whole = withSeen((question.schema ?? declared) as Record<string, unknown> | undefined, seen);
    return schemaWithout(whole, JSON.parse(left) as string[]);
  }, [question.schema, question.action, declared, left]);
  return (
    <div className="space-y-4">
      <SchemaForm
        id={id}
        schema={schema}
        value={forFields(fields)}
        common
        disabled={disabled}
        refused={refused}
        onChange={(next) => onChange(showJson(joined(isValues(next) ? next : {}, values)))}
        onSubmit={() => undefined}
      />
      {Object.keys(beyond).length === 0 ? null : (
        <div className="rounded-lg border px-4 py-2">
          <p className="text-muted text-sm">{t('edit.beyond')}</p>
          <JsonTable value={beyond} />
        </div>
      )}
    </div>
  );
}
