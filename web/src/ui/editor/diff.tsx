import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { comparable } from '@/lib/text';
import { common } from './setup';

interface Props {
  before: string;
  after: string;
  label: string;
  /**
   * Shows unchanged lines too, because the previous text is only the agent's claim and the reader must see all of it.
   */
  whole?: boolean;
}

/** Diff between two texts, line by line. */
export default function Diff({ before, after, label, whole }: Props) {
  const { t } = useTranslation();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!place.current) return;
    const [original, doc] = comparable(before, after);
    const view = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc,
        extensions: [
          common(label),
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          EditorView.contentAttributes.of({ 'aria-readonly': 'true' }),
          unifiedMergeView({
            original,
            mergeControls: false,
            highlightChanges: true,
            gutter: true,
            // Keeps equal lines unmarked even if most other lines changed.
            diffConfig: { scanLimit: 10_000, timeout: 500 },
            collapseUnchanged: whole ? undefined : { margin: 3, minSize: 6 },
          }),
          EditorState.phrases.of({ '$ unchanged lines': t('question.unchanged') }),
        ],
      }),
    });
    return () => view.destroy();
  }, [before, after, label, whole, t]);
  return <div ref={place} className="editor editor-diff" />;
}
