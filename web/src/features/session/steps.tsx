import { useQuery } from '@tanstack/react-query';
import { Check, RotateCcw, SkipForward } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { meQuery } from '@/api/queries';
import type { Session, Step } from '@/api/types';
import { reasonOf } from '@/model/labels';
import { type StepCommand, stepCommands } from '@/model/steps';
import { AgentLine, AgentText } from '@/ui/agent-text';
import { Button } from '@/ui/button';
import { Card, Section } from '@/ui/page';
import { StepBadge } from '@/ui/status';
import { Ago } from '@/ui/time';
import { CommandDialog } from './command-dialog';

const ICONS = { retry_step: RotateCcw, skip_step: SkipForward, approve_step: Check };

/** Steps of a hosted session; the last one accepts commands. */
export function Steps({ session }: { session: Session }) {
  const { t } = useTranslation();
  const { data: me } = useQuery(meQuery());
  const [command, setCommand] = useState<{ step: string; command: StepCommand }>();
  const may = me?.role === 'admin' || me?.role === 'operator';
  const steps = session.steps ?? [];
  // A session of one agent has one step, whose badge would repeat the session's.
  const worth = steps.length > 1 || steps.some((step) => step.name || step.status === 'failed');
  if (!session.driven || !worth) return null;
  return (
    <Section title={t('session.steps')}>
      <Card>
        <ol className="divide-y">
          {steps.map((step) => (
            <li key={step.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
              <About step={step} />
              {may ? (
                <span className="flex flex-wrap gap-2">
                  {stepCommands(session, step).map((name) => {
                    const Icon = ICONS[name];
                    return (
                      <Button
                        key={name}
                        size="sm"
                        tone={name === 'retry_step' ? 'accent' : 'plain'}
                        onClick={() => setCommand({ step: step.id, command: name })}
                      >
                        <Icon aria-hidden="true" />
                        {t(`session.commands.${name}.name`)}
                      </Button>
                    );
                  })}
                </span>
              ) : null}
            </li>
          ))}
        </ol>
      </Card>
      {command ? <CommandDialog session={session} {...command} onClose={() => setCommand(undefined)} /> : null}
    </Section>
  );
}

function About({ step }: { step: Step }) {
  const { t } = useTranslation();
  return (
    <div className="min-w-0 flex-1 basis-60">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-medium">
          <AgentLine text={step.name ?? step.agent ?? t('session.step')} />
        </span>
        <StepBadge status={step.status} />
        {step.attempt > 1 ? (
          <span className="text-muted text-sm">{t('session.attempt', { count: step.attempt })}</span>
        ) : null}
      </div>
      <div className="text-muted text-sm">
        {step.name && step.agent ? (
          <>
            <AgentLine text={step.agent} />
            {' · '}
          </>
        ) : null}
        <Ago at={step.ended_at ?? step.created_at} />
      </div>
      {step.reason ? <AgentText text={reasonOf(t, step.reason)} className="text-sm" lines={4} /> : null}
    </div>
  );
}
