import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { cn } from '@/lib/cn';
import { codeName, fold, pieces } from '@/lib/text';

/** One line of text from an agent, shown as data with hidden and bidirectional characters made visible. */
export function AgentLine({ text, className }: { text: string; className?: string }) {
  return (
    <bdi className={className}>
      {pieces(text).map((piece, at) =>
        'text' in piece ? (
          piece.text
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text never move
          <span key={at} className="ctl" title={codeName(piece.code)}>
            {codeName(piece.code)}
          </span>
        ),
      )}
    </bdi>
  );
}

interface Props {
  text: string;
  mono?: boolean;
  className?: string;
  characters?: number;
  lines?: number;
}

/** Text from an agent, folded if long, with its full length. */
export function AgentText({ text, mono, className, characters, lines }: Props) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const folded = fold(text, characters, lines);
  return (
    <div className={className}>
      <div
        dir="auto"
        className={cn(
          'whitespace-pre-wrap break-words [unicode-bidi:plaintext]',
          mono && 'font-mono text-sm leading-relaxed [overflow-wrap:anywhere]',
        )}
      >
        <AgentLine text={open ? text : folded.shown} />
        {folded.folded && !open ? '…' : null}
      </div>
      {folded.folded ? (
        <button
          type="button"
          className="mt-1.5 font-medium text-accent-ink text-sm underline-offset-2 hover:underline"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {open
            ? t('common.fold')
            : t('common.unfold', {
                characters: t('common.characters', { count: folded.characters }),
                lines: t('common.lines', { count: folded.lines }),
              })}
        </button>
      ) : null}
    </div>
  );
}
