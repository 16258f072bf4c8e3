import { getDefaultRegistry } from '@rjsf/core';
import {
  type EnumOptionsType,
  enumOptionsDeselectValue,
  enumOptionsIsSelected,
  enumOptionsSelectValue,
  optionId,
  type WidgetProps,
} from '@rjsf/utils';
import type { ComponentType } from 'react';
import { useTranslation } from 'react-i18next';
import { unpacked, writeJson } from '@/lib/exact';
import { spelled } from '@/lib/text';
import { AgentLine } from '@/ui/agent-text';

const Select = getDefaultRegistry().widgets.SelectWidget as ComponentType<WidgetProps>;

/** Label of an option; a value without a title is written as JSON. */
function nameOf({ label, value }: EnumOptionsType): string {
  const nameless = typeof value === 'object' && value !== null && label === String(value);
  return nameless ? writeJson(unpacked(value)) : label;
}

interface BoxProps {
  id: string;
  type: 'radio' | 'checkbox';
  name: string;
  label: string;
  checked: boolean;
  disabled?: boolean;
  onChange: (on: boolean) => void;
}

function Box({ id, type, name, label, checked, disabled, onChange }: BoxProps) {
  return (
    <div className={type}>
      <label>
        <span>
          <input
            id={id}
            type={type}
            name={name}
            checked={checked}
            disabled={disabled}
            onChange={(event) => onChange(event.target.checked)}
          />
          <AgentLine text={label} className="break-words [overflow-wrap:anywhere]" />
        </span>
      </label>
    </div>
  );
}

/** Radio buttons for a short list of values. */
export function RadioWidget({ id, label, options, value, disabled, readonly, onChange }: WidgetProps) {
  return (
    <div className="field-radio-group" id={id} role="radiogroup" aria-label={spelled(label)}>
      {options.enumOptions?.map((option, at) => (
        <Box
          key={optionId(id, at)}
          id={optionId(id, at)}
          type="radio"
          name={id}
          label={nameOf(option)}
          checked={enumOptionsIsSelected(option.value, value)}
          disabled={disabled || readonly}
          onChange={() => onChange(option.value)}
        />
      ))}
    </div>
  );
}

/** Checkboxes for several values of a list. */
export function CheckboxesWidget({ id, options, value, disabled, readonly, onChange }: WidgetProps) {
  const chosen: unknown[] = Array.isArray(value) ? value : [];
  const among = options.enumOptions ?? [];
  return (
    <div className="checkboxes" id={id}>
      {among.map((option, at) => (
        <Box
          key={optionId(id, at)}
          id={optionId(id, at)}
          type="checkbox"
          name={id}
          label={nameOf(option)}
          checked={enumOptionsIsSelected(option.value, chosen)}
          disabled={disabled || readonly}
          onChange={(on) =>
            onChange(on ? enumOptionsSelectValue(at, chosen, among) : enumOptionsDeselectValue(at, chosen, among))
          }
        />
      ))}
    </div>
  );
}

/** A checkbox with its label. */
export function CheckboxWidget({ id, label, value, disabled, readonly, onChange }: WidgetProps) {
  return (
    <Box
      id={id}
      type="checkbox"
      name={id}
      label={label}
      checked={value === true}
      disabled={disabled || readonly}
      onChange={onChange}
    />
  );
}

/** Yes, no, or not set, where null is a valid value. */
export function MaybeWidget({ id, label, value, disabled, readonly, onChange }: WidgetProps) {
  const { t } = useTranslation();
  const among = [
    [true, t('form.words.yes')],
    [false, t('form.words.no')],
    [null, t('form.neither')],
  ] as const;
  return (
    <div className="field-radio-group" id={id} role="radiogroup" aria-label={spelled(label)}>
      {among.map(([one, name], at) => (
        <Box
          key={name}
          id={optionId(id, at)}
          type="radio"
          name={id}
          label={name}
          checked={value === one}
          disabled={disabled || readonly}
          onChange={() => onChange(one)}
        />
      ))}
    </div>
  );
}

/** Select field. The browser draws the labels itself, so hidden characters in them are spelled out. */
export function SelectWidget(props: WidgetProps) {
  const enumOptions = props.options.enumOptions?.map((option) => ({ ...option, label: spelled(nameOf(option)) }));
  return <Select {...props} options={{ ...props.options, enumOptions }} />;
}
