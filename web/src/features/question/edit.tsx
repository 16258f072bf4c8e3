import { Tabs } from 'radix-ui';
import { lazy, Suspense, useEffect, useId, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Interaction } from '@/api/types';
import { readArguments } from '@/model/edit';
import { isValues } from '@/model/subject';
import Editor from '@/ui/editor/editor';
import { Notice, Section, Waiting } from '@/ui/page';
import SchemaForm from '@/ui/schema-form';
import { schemaOf } from '@/ui/schema-form/controls';

const Diff = lazy(() => import('@/ui/editor/diff'));

interface Props {
  question: Interaction;
  /** What had the focus when the edit was begun. */
  opener: Element | null;
  disabled: boolean;
  onChange: (values: Record<string, unknown> | undefined, good: boolean) => void;
}

/** Other arguments for the same tool, as fields or as JSON, with what differs from what was asked. */
export default function Edit({ question, opener, disabled, onChange }: Props) {
  const { t } = useTranslation();
  const id = useId();
  const asked = useMemo(() => (question.action?.arguments ?? {}) as Record<string, unknown>, [question.action]);
  const before = useMemo(() => written(asked), [asked]);
  const schema = useMemo(() => question.schema ?? schemaOf(asked), [question.schema, asked]);
  const [text, setText] = useState(before);
  const read = readArguments(text);
  const area = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The fields may come late: whoever has gone on to something else meanwhile stays there.
    const now = document.activeElement;
    if (now === opener || now === document.body)
      area.current?.querySelector<HTMLElement>('textarea, input, select')?.focus();
  }, [opener]);
  const take = (next: string) => {
    setText(next);
    const values = readArguments(next);
    onChange(values && written(values) !== before ? values : undefined, values !== undefined);
  };
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
          {read ? (
            <SchemaForm
              id={id}
              schema={schema}
              value={read}
              disabled={disabled}
              onChange={(values) => take(written(isValues(values) ? values : {}))}
              onSubmit={() => undefined}
            />
          ) : (
            <Notice tone="warn">{t('edit.notJson')}</Notice>
          )}
        </Tabs.Content>
        <Tabs.Content value="json">
          <div className="max-h-96 overflow-auto rounded-md border bg-surface">
            <Editor value={text} language="json" label={t('edit.json')} readOnly={disabled} onChange={take} />
          </div>
          {read ? null : <p className="mt-1.5 text-danger-ink text-sm">{t('edit.notObject')}</p>}
        </Tabs.Content>
      </Tabs.Root>
      {read && written(read) !== before ? (
        <Section level={3} title={t('edit.changes')}>
          <Suspense fallback={<Waiting rows={2} label={t('common.loading')} />}>
            <div className="max-h-80 overflow-auto rounded-md border bg-surface">
              <Diff before={before} after={written(read)} label={t('edit.changes')} />
            </div>
          </Suspense>
        </Section>
      ) : (
        <p className="text-muted text-sm">{t('edit.nothingChanged')}</p>
      )}
    </div>
  );
}

function written(values: object): string {
  return JSON.stringify(values, null, 2);
}
