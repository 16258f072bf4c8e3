import type { InputHTMLAttributes, ReactNode, Ref, SelectHTMLAttributes, TextareaHTMLAttributes } from 'react';
import { useId, useState } from 'react';
import { cn } from '@/lib/cn';
import { HiddenMarks } from './hidden-marks';

const box =
  'w-full rounded-md border border-edge bg-surface px-3 text-base text-ink shadow-card placeholder:text-muted aria-[invalid=true]:border-danger disabled:opacity-60';

interface Secret {
  /** The input is never stored or echoed. */
  secret?: boolean;
}

export function Input({
  className,
  secret,
  onChange,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> } & Secret) {
  const [written, setWritten] = useState<unknown>(rest.defaultValue);
  const open = !secret && (rest.type === undefined || rest.type === 'text' || rest.type === 'search');
  return (
    <>
      <input
        className={cn(box, 'h-9 max-sm:h-11', className)}
        {...rest}
        onChange={(event) => {
          if (open) setWritten(event.target.value);
          onChange?.(event);
        }}
      />
      {open ? <HiddenMarks text={rest.value ?? written} /> : null}
    </>
  );
}

export function Textarea({
  className,
  secret,
  onChange,
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { ref?: Ref<HTMLTextAreaElement> } & Secret) {
  const [written, setWritten] = useState<unknown>(rest.defaultValue);
  return (
    <>
      <textarea
        rows={3}
        className={cn(box, 'py-2 leading-relaxed', className)}
        {...rest}
        onChange={(event) => {
          if (!secret) setWritten(event.target.value);
          onChange?.(event);
        }}
      />
      {secret ? null : <HiddenMarks text={rest.value ?? written} />}
    </>
  );
}

export function Select({ className, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return <select className={cn(box, 'h-9 pr-2 max-sm:h-11', className)} {...rest} />;
}

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  optional?: ReactNode;
  className?: string;
  children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }) => ReactNode;
}

/** A label, its control, hint and error, linked for screen readers. */
export function Field({ label, hint, error, optional, className, children }: FieldProps) {
  const id = useId();
  const described = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ');
  return (
    <div className={cn('space-y-1.5', className)}>
      <label htmlFor={id} className="flex items-baseline gap-2 font-medium text-sm">
        <span>{label}</span>
        {optional ? <span className="font-normal text-muted text-xs">{optional}</span> : null}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {hint ? (
        <p id={`${id}-hint`} className="text-muted text-sm">
          {hint}
        </p>
      ) : null}
      {error ? (
        <p id={`${id}-error`} className="text-danger-ink text-sm">
          {error}
        </p>
      ) : null}
    </div>
  );
}
