import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, highlightSpecialChars, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { nonce } from '@/lib/nonce';
import { codeName } from '@/lib/text';

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.attributeName], color: 'var(--accent-ink)' },
  { tag: [tags.string], color: 'var(--good-ink)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--warn-ink)' },
  { tag: [tags.keyword, tags.heading], color: 'var(--accent-ink)', fontWeight: '600' },
  { tag: [tags.comment], color: 'var(--muted)', fontStyle: 'italic' },
]);

/** Extensions of every editor and diff: the page's colours, the CSP nonce, and visible hidden characters. */
export function common(label: string): Extension {
  return [
    EditorView.cspNonce.of(nonce),
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    EditorView.lineWrapping,
    lineNumbers(),
    highlightSpecialChars({ addSpecialChars: /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, render: named }),
    syntaxHighlighting(colours),
    EditorState.tabSize.of(4),
  ];
}

/** Shows a hidden character by its code point, as elsewhere on the page. */
function named(code: number): HTMLElement {
  const mark = document.createElement('span');
  mark.className = 'ctl';
  mark.textContent = codeName(code);
  return mark;
}
