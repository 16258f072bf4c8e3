import { useTranslation } from 'react-i18next';

interface Props {
  /** Numbers of selectable and selected questions. */
  of: number;
  count: number;
  onChange: (all: boolean) => void;
}

/** Selects all shown questions, or none. */
export function SelectAll({ of, count, onChange }: Props) {
  const { t } = useTranslation();
  if (of === 0) return null;
  return (
    <label className="flex items-center gap-3 border-b px-3 py-2 text-muted text-sm">
      <input
        type="checkbox"
        checked={count === of}
        ref={(box) => {
          if (box) box.indeterminate = count > 0 && count < of;
        }}
        onChange={(event) => onChange(event.target.checked)}
      />
      {t('inbox.selectAll')}
    </label>
  );
}
