import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { StreamLanguage } from '@codemirror/language';
import { toml } from '@codemirror/legacy-modes/mode/toml';
import { type Diagnostic, linter, lintGutter } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { common } from './setup';

/** A marker in the text; line and column count from 1. */
export interface Mark {
  line: number;
  column: number;
  severity: 'error' | 'warning';
  message: string;
}

interface Props {
  value: string;
  language: 'json' | 'toml';
  label: string;
  readOnly?: boolean;
  onChange: (value: string) => void;
  check?: (value: string) => Promise<Mark[]>;
}

const LANGUAGE = { json: json(), toml: StreamLanguage.define(toml) };

/** Text editor that shows marks while typing. The Tab key leaves the editor, as it leaves any other field. */
export default function Editor({ value, language, label, readOnly, onChange, check }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef({ value, onChange, check });
  latest.current = { value, onChange, check };
  useEffect(() => {
    if (!place.current) return;
    const editing = new Compartment();
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          common(label),
          LANGUAGE[language],
          history(),
          highlightActiveLine(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          editing.of([EditorState.readOnly.of(readOnly ?? false)]),
          latest.current.check ? [lintGutter(), linter((now) => marks(now, latest.current.check), { delay: 350 })] : [],
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, [label, language, readOnly]);
  useEffect(() => {
    const made = view.current;
    if (!made || made.state.doc.toString() === value) return;
    made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: value } });
  }, [value]);
  return <div ref={place} className="editor" />;
}

async function marks(view: EditorView, check: Props['check']): Promise<Diagnostic[]> {
  const { doc } = view.state;
  const found = (await check?.(doc.toString())) ?? [];
  return found.map(({ line, column, severity, message }) => {
    const row = doc.line(Math.min(Math.max(line, 1), doc.lines));
    const from = Math.min(row.from + Math.max(column - 1, 0), row.to);
    return { from, to: row.to, severity, message };
  });
}
