import { Repeat } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Interaction, Remember as RememberBody, Role } from '@/api/types';
import { span } from '@/lib/time';
import { FIRST_WISH, patternable, rememberOf, TIMES, USES, type Wish } from '@/model/remember';
import { AgentLine } from '@/ui/agent-text';
import { Field, Input, Select } from '@/ui/field';
import { HiddenMarks } from '@/ui/hidden-marks';

/** Whether this person can give a standing approval with this question. */
export function rememberable(question: Interaction, role?: Role): boolean {
  const asked = question.kind === 'approval' && question.action && question.asked_by_rule;
  const alone = question.audience.quorum <= 1 && !question.requirements?.length;
  return Boolean(asked) && alone && (role === 'admin' || role === 'operator');
}

interface Props {
  question: Interaction;
  onChange: (remember: RememberBody | undefined) => void;
}

/** Standing approval with its limits, summarised in one sentence. */
export function Remember({ question, onChange }: Props) {
  const { t, i18n } = useTranslation();
  const [wish, setWish] = useState<Wish | null>(null);
  const values = (question.action?.arguments ?? {}) as Record<string, unknown>;
  const change = (next: Wish | null) => {
    setWish(next);
    onChange(next ? rememberOf(next, values) : undefined);
  };
  const patterns = patternable(values);
  return (
    <div className="rounded-lg border bg-surface px-4 py-3">
      <label className="flex items-center gap-2.5">
        <input
          type="checkbox"
          checked={wish !== null}
          onChange={(event) => change(event.target.checked ? { ...FIRST_WISH, patterns } : null)}
        />
        <Repeat aria-hidden="true" className="size-4 text-muted" />
        <span>{t('remember.offer')}</span>
      </label>
      {wish ? (
        <div className="appear mt-3 space-y-3">
          <div className="grid gap-3 sm:grid-cols-2">
            <Field label={t('remember.where')}>
              {(ids) => (
                <Select
                  {...ids}
                  value={wish.scope}
                  onChange={(event) => change({ ...wish, scope: event.target.value as Wish['scope'] })}
                >
                  <option value="session">{t('remember.session')}</option>
                  <option value="project">{t('remember.project')}</option>
                </Select>
              )}
            </Field>
            <Field label={t('remember.what')}>
              {(ids) => (
                <Select
                  {...ids}
                  value={wish.cover}
                  onChange={(event) => change({ ...wish, cover: event.target.value as Wish['cover'] })}
                >
                  <option value="exact">{t('remember.exact')}</option>
                  {Object.keys(patterns).length > 0 ? <option value="pattern">{t('remember.pattern')}</option> : null}
                  <option value="any">{t('remember.any')}</option>
                </Select>
              )}
            </Field>
            <Field label={t('remember.howLong')}>
              {(ids) => (
                <Select
                  {...ids}
                  value={String(wish.seconds)}
                  onChange={(event) => change({ ...wish, seconds: number(event.target.value) })}
                >
                  {TIMES.map((seconds) => (
                    <option key={seconds} value={String(seconds)}>
                      {seconds === null ? t('remember.noEnd') : span(seconds, i18n.language)}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
            <Field label={t('remember.howOften')}>
              {(ids) => (
                <Select
                  {...ids}
                  value={String(wish.uses)}
                  onChange={(event) => change({ ...wish, uses: number(event.target.value) })}
                >
                  {USES.map((uses) => (
                    <option key={uses} value={String(uses)}>
                      {uses === null ? t('remember.noLimit') : t('remember.times', { count: uses })}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
          </div>
          {wish.cover === 'pattern'
            ? Object.keys(patterns).map((name) => (
                <Field key={name} label={<AgentLine text={name} />} hint={t('remember.star')}>
                  {(ids) => (
                    <>
                      <Input
                        {...ids}
                        className="font-mono text-sm!"
                        value={wish.patterns[name] ?? ''}
                        onChange={(event) =>
                          change({ ...wish, patterns: { ...wish.patterns, [name]: event.target.value } })
                        }
                      />
                      <HiddenMarks text={wish.patterns[name]} />
                    </>
                  )}
                </Field>
              ))
            : null}
          <p role="status" className="rounded-md bg-accent-soft px-3 py-2 text-accent-ink text-sm">
            <Words question={question} wish={wish} />
          </p>
        </div>
      ) : null}
    </div>
  );
}

function number(text: string): number | null {
  return text === 'null' ? null : Number(text);
}

/** The standing approval as a sentence: agent, tool, arguments, scope, duration and uses. */
function Words({ question, wish }: { question: Interaction; wish: Wish }) {
  const { t, i18n } = useTranslation();
  const words = t('remember.words', {
    agent: question.asked_by.name,
    tool: question.action?.tool,
    what: t(`remember.wordsWhat.${wish.cover}`),
    where: t(`remember.wordsWhere.${wish.scope}`),
    howLong:
      wish.seconds === null
        ? t('remember.wordsNoEnd')
        : t('remember.wordsFor', { time: span(wish.seconds, i18n.language) }),
    howOften: wish.uses === null ? '' : t('remember.wordsTimes', { count: wish.uses }),
  });
  return <AgentLine text={words} />;
}
