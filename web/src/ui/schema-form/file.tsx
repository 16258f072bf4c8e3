import { useFileWidgetProps, type WidgetProps } from '@rjsf/utils';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { AgentLine } from '@/ui/agent-text';
import { Button } from '@/ui/button';

/** File input. A file is sent as the schema requires: as a data URL with type and name, or as base64 of its content. */
export function FileWidget({ id, schema, value, multiple, disabled, readonly, onChange, rawErrors }: WidgetProps) {
  const { t } = useTranslation();
  const bare = schema.contentEncoding === 'base64' && schema.format !== 'data-url';
  const [name, setName] = useState('');
  const { filesInfo, handleChange, handleRemove } = useFileWidgetProps(
    bare ? asUrl(value, name) : value,
    (next: unknown) => onChange(bare ? withoutHead(next) : next),
    multiple,
  );
  return (
    <div className="space-y-2">
      <input
        id={id}
        type="file"
        className="form-control"
        multiple={multiple}
        disabled={disabled || readonly}
        aria-invalid={rawErrors?.length ? true : undefined}
        onChange={({ target: { files } }) => {
          if (!files?.length) return;
          setName(files[0]?.name ?? '');
          void handleChange(files);
        }}
      />
      <ul className="space-y-1 empty:hidden">
        {filesInfo.map((file, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: files have no other name than their place
          <li key={at} className="flex items-center gap-2 text-sm">
            <span className="min-w-0 flex-1 break-words [overflow-wrap:anywhere]">
              {file.name ? <AgentLine text={`${file.name} `} /> : null}
              <span className="text-muted">{t('form.bytes', { count: file.size })}</span>
            </span>
            <Button
              tone="quiet"
              size="icon"
              disabled={disabled || readonly}
              aria-label={t('form.remove', { number: at + 1 })}
              onClick={() => {
                setName('');
                handleRemove(at);
              }}
            >
              <Trash2 />
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function withoutHead(url: unknown): unknown {
  return typeof url === 'string' ? url.slice(url.indexOf(',') + 1) : url;
}

function asUrl(base64: unknown, name: string): string | undefined {
  if (typeof base64 !== 'string' || base64 === '') return undefined;
  return `data:application/octet-stream;name=${encodeURIComponent(name)};base64,${base64}`;
}
