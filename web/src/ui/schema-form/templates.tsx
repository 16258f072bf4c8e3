import {
  ADDITIONAL_PROPERTY_FLAG,
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  canExpand,
  type DescriptionFieldProps,
  type FieldTemplateProps,
  type MultiSchemaFieldTemplateProps,
  type ObjectFieldTemplateProps,
} from '@rjsf/utils';
import { ChevronDown, ChevronUp, Plus, Trash2 } from 'lucide-react';
import { isValidElement } from 'react';
import { useTranslation } from 'react-i18next';
import { spelled } from '@/lib/text';
import { AgentLine, AgentText } from '@/ui/agent-text';
import { Button } from '@/ui/button';
import { Input } from '@/ui/field';
import { HiddenMarks } from '@/ui/hidden-marks';

/** Every text in these templates comes from an agent's schema and is shown as data. */
export function FieldTemplate(props: FieldTemplateProps) {
  const { id, label, children, hidden, required, displayLabel, rawErrors, schema, uiSchema, formData } = props;
  if (hidden) return <div hidden>{children}</div>;
  const group = schema.type === 'object' || schema.type === 'array' || uiSchema?.['ui:field'];
  // Several values of a list are chosen with checkboxes under one label.
  const boxes = displayLabel && schema.type === 'array' && !uiSchema?.['ui:field'];
  const errors = rawErrors?.filter((error, at) => rawErrors.indexOf(error) === at) ?? [];
  const field = (
    <div className="space-y-1.5" data-field={id}>
      {displayLabel && !group ? (
        <label htmlFor={id} className="block font-medium text-sm">
          <AgentLine text={label} />
          {required ? <span aria-hidden="true"> *</span> : null}
        </label>
      ) : null}
      {boxes ? (
        <fieldset>
          <legend className="mb-1.5 font-medium text-sm">
            <AgentLine text={label} />
            {required ? <span aria-hidden="true"> *</span> : null}
          </legend>
          {children}
        </fieldset>
      ) : (
        children
      )}
      {uiSchema?.['ui:field'] || uiSchema?.['ui:widget'] === 'password' ? null : <HiddenMarks text={formData} />}
      {schema.description && schema.type !== 'object' && schema.type !== 'array' ? (
        <AgentText text={schema.description} className="text-muted text-sm" />
      ) : null}
      {errors.map((error) => (
        <p key={error} id={`${id}__error`} role="alert" className="text-danger-ink text-sm">
          <AgentLine text={error} />
        </p>
      ))}
    </div>
  );
  return ADDITIONAL_PROPERTY_FLAG in schema ? <Added {...props}>{field}</Added> : field;
}

/** An additional property, whose name the person chooses. */
function Added({ id, label, children, disabled, onKeyRenameBlur, onRemoveProperty }: FieldTemplateProps) {
  const { t } = useTranslation();
  return (
    <div className="flex items-start gap-2 rounded-lg border p-3">
      <div className="min-w-0 flex-1 space-y-3">
        <div className="space-y-1.5">
          <label htmlFor={`${id}-key`} className="block font-medium text-sm">
            {t('form.name')}
          </label>
          <Input key={label} id={`${id}-key`} defaultValue={label} disabled={disabled} onBlur={onKeyRenameBlur} />
        </div>
        {children}
      </div>
      <Button
        tone="quiet"
        size="icon"
        aria-label={t('form.removeField', { name: spelled(label) })}
        onClick={onRemoveProperty}
      >
        <Trash2 />
      </Button>
    </div>
  );
}

/** Description of the chosen alternative. */
export function DescriptionFieldTemplate({ id, description }: DescriptionFieldProps) {
  return (
    <div id={id}>
      {typeof description === 'string' ? <AgentText text={description} className="text-muted text-sm" /> : description}
    </div>
  );
}

export function ObjectFieldTemplate(props: ObjectFieldTemplateProps) {
  const { title, schema, uiSchema, formData, properties, fieldPathId, onAddProperty } = props;
  const { t } = useTranslation();
  const inner = fieldPathId.path.length > 0;
  // An object with alternatives has the fields of the chosen alternative only.
  if ((schema.oneOf || schema.anyOf) && properties.length === 0) return null;
  const fields = (
    <div className="space-y-4">
      {properties.map((property) => property.content)}
      {canExpand(schema, uiSchema, formData) ? (
        <Button size="sm" onClick={onAddProperty}>
          <Plus aria-hidden="true" />
          {t('form.addField')}
        </Button>
      ) : null}
    </div>
  );
  if (!inner)
    return (
      <>
        {schema.description ? <AgentText text={schema.description} className="mb-4 text-muted text-sm" /> : null}
        {fields}
      </>
    );
  return (
    <fieldset className="rounded-lg border px-4 pt-2 pb-4">
      <legend className="px-1 font-medium text-sm">
        <AgentLine text={title} />
      </legend>
      {schema.description ? <AgentText text={schema.description} className="mb-3 text-muted text-sm" /> : null}
      {fields}
    </fieldset>
  );
}

export function ArrayFieldTemplate({ title, schema, items, canAdd, onAddClick, required }: ArrayFieldTemplateProps) {
  const { t } = useTranslation();
  return (
    <fieldset className="rounded-lg border px-4 pt-2 pb-4">
      <legend className="px-1 font-medium text-sm">
        <AgentLine text={title} />
        {required ? <span aria-hidden="true"> *</span> : null}
      </legend>
      {schema.description ? <AgentText text={schema.description} className="mb-3 text-muted text-sm" /> : null}
      <div className="space-y-3">{items}</div>
      {canAdd ? (
        <Button size="sm" className="mt-3" onClick={onAddClick}>
          <Plus aria-hidden="true" />
          {t('form.add')}
        </Button>
      ) : null}
    </fieldset>
  );
}

export function ArrayFieldItemTemplate({ children, buttonsProps, hasToolbar, index }: ArrayFieldItemTemplateProps) {
  const { t } = useTranslation();
  const { hasMoveUp, hasMoveDown, hasRemove, onMoveUpItem, onMoveDownItem, onRemoveItem } = buttonsProps;
  const number = index + 1;
  return (
    <div className="flex items-start gap-2">
      <div className="min-w-0 flex-1">{children}</div>
      {hasToolbar ? (
        <div className="flex">
          {hasMoveUp ? (
            <Button tone="quiet" size="icon" aria-label={t('form.up', { number })} onClick={onMoveUpItem}>
              <ChevronUp />
            </Button>
          ) : null}
          {hasMoveDown ? (
            <Button tone="quiet" size="icon" aria-label={t('form.down', { number })} onClick={onMoveDownItem}>
              <ChevronDown />
            </Button>
          ) : null}
          {hasRemove ? (
            <Button tone="quiet" size="icon" aria-label={t('form.remove', { number })} onClick={onRemoveItem}>
              <Trash2 />
            </Button>
          ) : null}
        </div>
      ) : null}
    </div>
  );
}

export function MultiSchemaFieldTemplate({ selector, optionSchemaField }: MultiSchemaFieldTemplateProps) {
  const { t } = useTranslation();
  const id = isValidElement<{ id?: string }>(selector) ? selector.props.id : undefined;
  return (
    <div className="space-y-3 rounded-lg border p-4">
      <div className="space-y-1.5">
        <label htmlFor={id} className="block font-medium text-sm">
          {t('form.which')}
        </label>
        {selector}
      </div>
      {optionSchemaField}
    </div>
  );
}
