import { useMutation } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import type { Explanation, Policy } from '@/api/types';
import { audienceWords } from '@/model/audience';
import { readArguments } from '@/model/edit';
import { rulingReason } from '@/model/labels';
import { AgentLine } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Field, Input, Textarea } from '@/ui/field';
import { Card, Notice, Section } from '@/ui/page';
import { Parsed } from '@/ui/parsed';
import { ProblemNotice } from '@/ui/problem';

const TONES = { allow: 'good', ask: 'warn', deny: 'danger' } as const;

/**
 * Explains the ruling on a call rule by rule, under the draft if there is one. The shown result always belongs to the
 * call in the form.
 */
export function Explain({ policy, draft }: { policy: Policy; draft?: string }) {
  const { t } = useTranslation();
  const [tool, setTool] = useState('execute_command');
  const [agent, setAgent] = useState('');
  const [text, setText] = useState('{\n  "command": "git push origin main"\n}');
  const values = readArguments(text);
  const explain = useMutation({
    mutationFn: (call: { tool: string; arguments: Record<string, unknown>; agent?: string }) =>
      responseBody(
        api.POST('/v1/policy/explain', {
          body: { ...call, role: 'agent', text: draft },
        }),
      ),
  });
  const call = JSON.stringify([tool, agent, text, draft ?? null, policy.version, policy.enabled]);
  const [asked, setAsked] = useState<string>();
  const current = asked === call;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!values) return;
    setAsked(call);
    explain.mutate({ tool, arguments: values, agent: agent || undefined });
  };
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <form onSubmit={submit} className="space-y-4">
        {draft === undefined ? null : <Notice tone="warn">{t('explain.draft')}</Notice>}
        <Field label={t('explain.tool')}>
          {(ids) => (
            <Input
              {...ids}
              required
              className="font-mono text-sm!"
              value={tool}
              onChange={(event) => setTool(event.target.value)}
            />
          )}
        </Field>
        <Field label={t('explain.agent')} optional={t('common.optional')}>
          {(ids) => <Input {...ids} value={agent} onChange={(event) => setAgent(event.target.value)} />}
        </Field>
        <Field label={t('explain.arguments')} error={values ? undefined : t('edit.notObject')}>
          {(ids) => (
            <Textarea
              {...ids}
              rows={7}
              spellCheck={false}
              className="font-mono text-sm!"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <Button type="submit" tone="accent" busy={explain.isPending && current} disabled={!values}>
          {t('explain.go')}
        </Button>
      </form>
      <div aria-live="polite">
        {current && explain.error ? <ProblemNotice error={explain.error} /> : null}
        {current && explain.data ? <Ruling explained={explain.data} /> : null}
        {asked === undefined || current ? null : <p className="text-muted text-sm">{t('explain.changed')}</p>}
      </div>
    </div>
  );
}

interface Considered {
  rule?: string;
  line?: number;
  verdict?: 'allow' | 'ask' | 'deny';
  outcome?: string;
  why?: string;
  pattern?: string;
}

function Ruling({ explained }: { explained: Explanation }) {
  const { t } = useTranslation();
  const { ruling } = explained;
  return (
    <div className="space-y-6">
      <Card className="space-y-1 p-4">
        <div className="flex items-center gap-2">
          <Badge tone={TONES[ruling.verdict]}>{t(`verdicts.${ruling.verdict}`)}</Badge>
          <code className="font-semibold">{ruling.rule ?? t('why.noRule')}</code>
        </div>
        <p>
          <AgentLine text={rulingReason(t, ruling.reason)} />
        </p>
      </Card>
      <Section title={t('explain.considered')}>
        <Rules considered={explained.considered as Considered[]} />
      </Section>
      {explained.asks?.length ? (
        <Section title={t('explain.asks')}>
          <Card>
            <ul className="divide-y">
              {explained.asks.map((one) => (
                <li key={one.rule ?? ''} className="px-4 py-2 text-sm">
                  {one.rule ? <code className="mr-3 font-semibold">{one.rule}</code> : null}
                  <AgentLine text={audienceWords(t, one.audience, true)} />
                  <div className="text-muted">
                    <AgentLine text={t(`explain.because.${one.because as 'fails'}`, { why: one.error ?? '' })} />
                  </div>
                </li>
              ))}
            </ul>
          </Card>
        </Section>
      ) : null}
      {explained.floor ? (
        <Section title={t('explain.floor')}>
          <p className="mb-2 text-sm">
            {explained.floor.ruling.rule ? (
              <AgentLine text={rulingReason(t, explained.floor.ruling.reason)} />
            ) : (
              t('explain.floorSilent')
            )}
          </p>
          <Rules considered={explained.floor.considered as Considered[]} />
        </Section>
      ) : null}
      <Section title={t('explain.parsed')}>
        <Card>
          <Parsed parsed={explained.parsed as Record<string, unknown>} />
        </Card>
      </Section>
    </div>
  );
}

const MISSES = [
  'tool',
  'agent',
  'user',
  'role',
  'arguments',
  'unparsed',
  'beside',
  'condition',
  'suspended',
] as const satisfies string[];

/** Why a rule does not match. An expression that fails says so in its own words. */
function whyNot(t: TFunction, { outcome, why = outcome ?? '' }: Considered): string {
  const known = MISSES.find((miss) => outcome === 'misses' && miss === why);
  return known ? t(`explain.whyNot.${known}`) : why;
}

/** Rules in order of evaluation, each with its outcome. */
function Rules({ considered }: { considered: Considered[] }) {
  const { t } = useTranslation();
  return (
    <Card>
      <ol className="divide-y">
        {considered.map((one) => (
          <li key={`${one.line} ${one.rule}`} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 text-sm">
            <span className="w-8 text-right text-muted tabular-nums">{one.line}</span>
            <code className="min-w-0 flex-1 basis-32">{one.rule}</code>
            <span className="ml-auto flex items-center gap-3">
              <span className="text-muted">
                {one.outcome === 'matches'
                  ? t('explain.matches', { pattern: one.pattern ?? '' })
                  : t('explain.misses', { why: whyNot(t, one) })}
              </span>
              {one.verdict ? (
                <Badge tone={one.outcome === 'matches' ? TONES[one.verdict] : 'plain'}>
                  {t(`verdicts.${one.verdict}`)}
                </Badge>
              ) : null}
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}
