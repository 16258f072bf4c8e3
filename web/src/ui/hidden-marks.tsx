import { useTranslation } from 'react-i18next';
import { hiddenIn, reorderedLines } from '@/lib/text';
import { AgentLine } from './agent-text';

/**
 * Names the hidden characters of an edited text below its field, because the browser does not show them. Lines that the
 * field may display in another order are shown in their stored order.
 */
export function HiddenMarks({ text }: { text: unknown }) {
  const { t } = useTranslation();
  const found = typeof text === 'string' ? hiddenIn(text) : [];
  if (typeof text !== 'string' || found.length === 0) return null;
  return (
    <div role="status" className="space-y-1 text-sm text-warn-ink">
      <p>
        {t('form.hidden')}{' '}
        {found.map((name) => (
          <span key={name} className="ctl">
            {name}
          </span>
        ))}
      </p>
      {reorderedLines(text).map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one text never move
        <p key={at} className="break-words font-mono text-ink [overflow-wrap:anywhere]">
          <AgentLine text={line} />
        </p>
      ))}
    </div>
  );
}
