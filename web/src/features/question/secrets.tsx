import { Eye, EyeOff, LockKeyhole } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Interaction, SecretField } from '@/api/types';
import { spelled } from '@/lib/text';
import { AgentLine } from '@/ui/agent-text';
import { Button } from '@/ui/button';
import { Field, Input, Textarea } from '@/ui/field';

interface Props {
  id: string;
  question: Interaction;
  disabled: boolean;
  keep: boolean;
  /** Validation errors of the server by field name. */
  wrong: Record<string, string>;
  onKeep: (keep: boolean) => void;
  onSubmit: (data: Record<string, string>) => void;
}

/** Secret inputs. The values exist only in the fields and in the answer that is sent. */
export function Secrets({ id, question, disabled, keep, wrong, onKeep, onSubmit }: Props) {
  const { t } = useTranslation();
  const [missing, setMissing] = useState<string[]>([]);
  const fields = question.secrets ?? [];
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    const given = fields.map((field) => [field.name, String(values.get(field.name) ?? '')] as const);
    const empty = fields.filter((field) => field.required && !values.get(field.name)).map((field) => field.name);
    setMissing(empty);
    if (empty.length > 0) return;
    onSubmit(Object.fromEntries(given.filter(([, value]) => value !== '')));
  };
  return (
    <form id={id} autoComplete="off" onSubmit={submit} className="space-y-4">
      {fields.map((field) => (
        <SecretInput
          key={field.name}
          field={field}
          disabled={disabled}
          error={missing.includes(field.name) ? t('form.wrong.required') : wrong[field.name]}
        />
      ))}
      <label className="flex items-start gap-2.5 text-sm">
        <input
          type="checkbox"
          checked={keep}
          disabled={disabled}
          className="mt-0.5"
          onChange={(event) => onKeep(event.target.checked)}
        />
        <AgentLine text={t('secret.keep', { agent: question.asked_by.name })} />
      </label>
      <p className="flex items-center gap-2 text-muted text-sm">
        <LockKeyhole aria-hidden="true" className="size-4 shrink-0" />
        {t('secret.sealed')}
      </p>
    </form>
  );
}

function SecretInput({ field, disabled, error }: { field: SecretField; disabled: boolean; error?: string }) {
  const { t } = useTranslation();
  const [shown, setShown] = useState(false);
  const common = {
    name: field.name,
    disabled,
    placeholder: field.placeholder ? spelled(field.placeholder) : undefined,
    autoComplete: 'off',
    autoCapitalize: 'off',
    spellCheck: false,
    'data-1p-ignore': true,
    'data-lpignore': 'true',
  };
  return (
    <Field
      label={<AgentLine text={field.label ?? field.name} />}
      optional={field.required ? undefined : t('common.optional')}
      hint={field.label ? <code className="text-xs">{field.name}</code> : undefined}
      error={error ? <AgentLine text={error} /> : undefined}
    >
      {(ids) =>
        field.type === 'multiline' ? (
          <Textarea
            {...ids}
            {...common}
            secret
            rows={5}
            className={`font-mono text-sm! ${shown ? '' : '[-webkit-text-security:disc]'}`}
          />
        ) : (
          <div className="flex gap-2">
            <Input {...ids} {...common} secret type={shown ? 'text' : 'password'} className="font-mono text-sm!" />
            <Button
              size="icon"
              aria-pressed={shown}
              aria-label={t('secret.show', { name: field.label ?? field.name })}
              onClick={() => setShown(!shown)}
            >
              {shown ? <EyeOff /> : <Eye />}
            </Button>
          </div>
        )
      }
    </Field>
  );
}
