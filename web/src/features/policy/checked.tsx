import { CircleCheck, CircleHelp, LoaderCircle } from 'lucide-react';
import { useCallback, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import { asProblem, type Problem } from '@/api/problem';
import type { Finding } from '@/api/types';
import type { Mark } from '@/ui/editor/editor';
import { ProblemNotice } from '@/ui/problem';
import { Findings } from './findings';

/** Findings for one policy text, or the error of the check. Valid for that text only. */
interface Checked {
  text: string;
  findings?: Finding[];
  problem?: Problem;
}

/** Checks a policy text on the server. The result belongs to exactly that text. */
export function useChecked(text: string) {
  const [last, setLast] = useState<Checked>();
  const asked = useRef<string>(undefined);
  const check = useCallback(async (next: string): Promise<Mark[]> => {
    asked.current = next;
    const checked = await read(next);
    // Ignores a response for an older text.
    if (asked.current === next) setLast(checked);
    return (checked.findings ?? []).map(({ line, column, severity, message }) => ({
      line,
      column,
      severity: severity === 'error' ? 'error' : 'warning',
      message,
    }));
  }, []);
  const again = useCallback(() => {
    setLast(undefined);
    void check(text);
  }, [check, text]);
  const checked = last?.text === text ? last : undefined;
  const good = checked?.findings?.every((finding) => finding.severity !== 'error') ?? false;
  return { checked, good, check, again };
}

async function read(text: string): Promise<Checked> {
  try {
    return { text, findings: (await responseBody(api.POST('/v1/policy/check', { body: { text } }))).findings };
  } catch (error) {
    return { text, problem: asProblem(error) };
  }
}

/** Shows the check result of the current text. */
export function CheckedNote({ checked, again }: { checked?: Checked; again: () => void }) {
  const { t } = useTranslation();
  if (checked?.findings?.length) return <Findings findings={checked.findings} />;
  if (checked?.problem) {
    return (
      <div className="space-y-2">
        <p className="flex items-center gap-2 text-sm">
          <CircleHelp aria-hidden="true" className="size-4 text-warn" />
          {t('policy.unchecked')}
        </p>
        <ProblemNotice error={checked.problem} again={again} />
      </div>
    );
  }
  return checked ? (
    <p className="flex items-center gap-2 text-good-ink text-sm">
      <CircleCheck aria-hidden="true" className="size-4" />
      {t('policy.good')}
    </p>
  ) : (
    <p className="flex items-center gap-2 text-muted text-sm">
      <LoaderCircle aria-hidden="true" className="size-4 animate-spin" />
      {t('policy.checking')}
    </p>
  );
}
