import type { FieldProps, WidgetProps } from '@rjsf/utils';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { cn } from '@/lib/cn';
import { isBeyond, packed, readJson, showJson, unpacked } from '@/lib/exact';
import { spelled } from '@/lib/text';
import { asLocal, withOffset } from '@/lib/time';
import { AgentLine } from '@/ui/agent-text';
import { Input, Textarea } from '@/ui/field';

/**
 * The browser's date and time control has no offset; the value that is sent has the offset of the person's time zone.
 */
export function DateTimeWidget({ id, value, required, disabled, readonly, onChange, rawErrors }: WidgetProps) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <div className="flex items-center gap-3">
      <Input
        id={id}
        type="datetime-local"
        className="w-auto!"
        required={required}
        disabled={disabled || readonly}
        aria-invalid={rawErrors?.length ? true : undefined}
        value={typeof value === 'string' ? asLocal(value) : ''}
        onChange={(event) => onChange(event.target.value === '' ? undefined : withOffset(event.target.value))}
      />
      <span className="text-muted text-sm">{zone}</span>
    </div>
  );
}

export function ToggleWidget({ id, value, label, disabled, readonly, onChange }: WidgetProps) {
  const on = value === true;
  return (
    <button
      id={id}
      type="button"
      role="switch"
      aria-checked={on}
      aria-label={spelled(label)}
      disabled={disabled || readonly}
      onClick={() => onChange(!on)}
      className={cn(
        'relative h-6 w-11 rounded-full border transition-colors',
        on ? 'border-transparent bg-accent' : 'border-edge bg-sunken',
      )}
    >
      <span
        aria-hidden="true"
        className={cn(
          'absolute top-0.5 left-0.5 size-4.5 rounded-full transition-transform',
          on ? 'translate-x-5 bg-on-accent' : 'bg-edge',
        )}
      />
    </button>
  );
}

/**
 * JSON text field for values that no set of fields can represent. The value is sent once the text is valid JSON. While
 * nobody is typing, the field shows the current value.
 */
export function JsonField({ fieldPathId, formData, name, schema, required, disabled, onChange, registry }: FieldProps) {
  const { t } = useTranslation();
  const now = json(unpacked(formData));
  const [seen, setSeen] = useState(now);
  const { common, unreadAt, tellUnread } = registry.formContext as FormContext;
  const path = fieldPathId.path.join('/');
  const [begun] = useState(() => unreadAt(path));
  const [text, setText] = useState(begun ?? now);
  const [wrong, setWrong] = useState(begun === undefined ? undefined : flawOf(begun, common));
  const id = fieldPathId.$id;
  const unread = wrong ? text : undefined;
  useEffect(() => tellUnread(path, unread), [tellUnread, path, unread]);
  if (now !== seen) {
    setSeen(now);
    if (document.activeElement?.id !== id) {
      setText(now);
      setWrong(undefined);
    }
  }
  const write = (next: string) => {
    setText(next);
    const flaw = flawOf(next, common);
    setWrong(flaw);
    if (!flaw) onChange(packed(read(next)), fieldPathId.path, undefined, id);
  };
  return (
    <div className="space-y-1.5">
      <label htmlFor={id} className="font-medium text-sm">
        <AgentLine text={schema.title ?? name} />
        {required ? <span aria-hidden="true"> *</span> : null} <span className="font-normal text-muted">JSON</span>
      </label>
      <Textarea
        id={id}
        value={text}
        disabled={disabled}
        spellCheck={false}
        data-unread={wrong}
        aria-invalid={wrong ? true : undefined}
        aria-describedby={wrong ? `${id}-json` : undefined}
        className="font-mono text-sm!"
        rows={Math.min(12, Math.max(3, text.split('\n').length))}
        onChange={(event) => write(event.target.value)}
        onBlur={() => {
          if (!wrong && json(read(text)) !== now) setText(now);
        }}
      />
      {wrong ? (
        <p id={`${id}-json`} className="text-danger-ink text-sm">
          {t(`form.${wrong}`)}
        </p>
      ) : null}
    </div>
  );
}

interface FormContext {
  common: boolean;
  unreadAt: (path: string) => string | undefined;
  tellUnread: (path: string, text?: string) => void;
}

/** Reason why a text is not valid JSON. */
function flawOf(text: string, common: boolean): 'notJson' | 'beyond' | undefined {
  try {
    const value = read(text);
    return common && isBeyond(value) ? 'beyond' : undefined;
  } catch {
    return 'notJson';
  }
}

function read(text: string): unknown {
  return text.trim() === '' ? undefined : readJson(text);
}

function json(value: unknown): string {
  return value === undefined ? '' : showJson(value);
}
