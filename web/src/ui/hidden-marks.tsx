import { useTranslation } from 'react-i18next';
import { hiddenIn } from '@/lib/text';

/** What cannot be seen in a text that is being edited, named beneath it: a browser's own field shows nothing of it. */
export function HiddenMarks({ text }: { text: unknown }) {
  const { t } = useTranslation();
  const found = typeof text === 'string' ? hiddenIn(text) : [];
  if (found.length === 0) return null;
  return (
    <p role="status" className="text-sm text-warn-ink">
      {t('form.hidden')}{' '}
      {found.map((name) => (
        <span key={name} className="ctl">
          {name}
        </span>
      ))}
    </p>
  );
}
