import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FlaskConical } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { api, responseBody } from '@/api/client';
import type { Simulated, Simulation } from '@/api/types';
import { AgentLine } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Notice } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { Ago } from '@/ui/time';

const TONES = { allow: 'good', ask: 'warn', deny: 'danger' } as const;
const SHOWN = 20;

/** Tests a draft on recent actions: which decisions would change, and which decisions of people it contradicts. */
export function Simulate({ text }: { text: string }) {
  const { t } = useTranslation();
  const held = useMutation({ mutationFn: () => responseBody(api.POST('/v1/policy/simulate', { body: { text } })) });
  return (
    <section aria-label={t('simulate.go')} className="space-y-3">
      <Button size="sm" busy={held.isPending} onClick={() => held.mutate()}>
        <FlaskConical aria-hidden="true" />
        {t('simulate.go')}
      </Button>
      <div aria-live="polite" className="space-y-3">
        {held.error ? <ProblemNotice error={held.error} /> : null}
        {held.data ? <SimulationResult simulation={held.data} /> : null}
      </div>
    </section>
  );
}

function SimulationResult({ simulation }: { simulation: Simulation }) {
  const { t } = useTranslation();
  const { changes, changed, contradictions, contradicted, judged } = simulation;
  const other = changed.filter((one) => !contradicted.some((two) => two.call_id === one.call_id));
  return (
    <>
      <p>
        {t('simulate.judged', { count: judged })}
        {changes.length === 0 ? ` ${t('simulate.same')}` : null}
      </p>
      {changes.length > 0 ? (
        <ul className="flex flex-wrap gap-x-4 gap-y-1.5 text-sm">
          {changes.map(({ from, to, count }) => (
            <li key={`${from} ${to}`} className="flex items-center gap-1.5">
              <Verdict verdict={from} /> → <Verdict verdict={to} />
              <span className="tabular-nums">× {count}</span>
            </li>
          ))}
        </ul>
      ) : null}
      {contradictions > 0 ? (
        <Notice tone="danger" title={t('simulate.contradicts', { count: contradictions })}>
          <Calls calls={contradicted} />
        </Notice>
      ) : null}
      {other.length > 0 ? (
        <details>
          <summary className="text-accent-ink text-sm">{t('simulate.newest')}</summary>
          <Calls calls={other} />
        </details>
      ) : null}
    </>
  );
}

function Calls({ calls }: { calls: Simulated[] }) {
  return (
    <ul className="mt-1 space-y-1 text-sm">
      {calls.slice(0, SHOWN).map((call) => (
        <li key={`${call.session} ${call.call_id}`} className="flex flex-wrap items-center gap-x-2">
          <Link
            to="/sessions/$session"
            params={{ session: call.session }}
            className="font-medium underline-offset-2 hover:underline"
          >
            <AgentLine text={`${call.agent} → ${call.tool}`} />
          </Link>
          <Verdict verdict={call.before.verdict} /> → <Verdict verdict={call.after.verdict} />
          {call.decision ? <AgentLine text={call.decision.by.name} /> : null}
          <Ago at={call.proposed_at} className="text-xs" />
        </li>
      ))}
    </ul>
  );
}

function Verdict({ verdict }: { verdict: string }) {
  const { t } = useTranslation();
  const known = Object.hasOwn(TONES, verdict) ? (verdict as keyof typeof TONES) : undefined;
  return <Badge tone={known ? TONES[known] : 'plain'}>{known ? t(`verdicts.${known}`) : verdict}</Badge>;
}
