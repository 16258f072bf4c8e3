import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { Circle, CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { sessionQuery } from '@/api/queries';
import type { Interaction } from '@/api/types';
import { moment } from '@/lib/time';
import { audienceWords } from '@/model/audience';
import { askerOf, moveLabel, sessionName } from '@/model/labels';
import { AgentLine, AgentText } from '@/ui/agent-text';

/** The asker, the rule that requires the question, the people who may answer, and what happens at the deadline. */
export function Why({ question }: { question: Interaction }) {
  const { t, i18n } = useTranslation();
  const { data: session } = useQuery(sessionQuery(question.session));
  const { asked_by_rule: rule, fallback } = question;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-5 gap-y-1.5 text-sm">
      <Row name={t('why.agent')}>
        <AgentLine text={askerOf(t, question)} />
        {question.agent_version ? (
          <span className="text-muted">
            {' '}
            <AgentLine text={question.agent_version} />
          </span>
        ) : null}
      </Row>
      <Row name={t('why.session')}>
        <Link
          to="/sessions/$session"
          params={{ session: question.session }}
          className="font-medium text-accent-ink underline-offset-2 hover:underline"
        >
          <AgentLine text={sessionName(t, session)} />
        </Link>
        {session ? (
          <span className="text-muted"> · {t('why.startedBy', { name: session.started_by.name })}</span>
        ) : null}
      </Row>
      {rule ? (
        <Row name={t('why.rule')}>
          {rule.rule ? <code>{[rule.rule, ...(rule.also ?? [])].join(', ')}</code> : t('why.noRule')}
        </Row>
      ) : null}
      <Row name={t(question.requirements?.length ? 'why.requirements' : 'why.audience')}>
        <Audiences question={question} />
      </Row>
      {question.handed_from ? (
        <Row name={t('why.handedFrom')}>
          <AgentLine text={question.handed_from.by.name} />
          {' · '}
          <Link
            to="/inbox/$interaction"
            params={{ interaction: question.handed_from.interaction }}
            className="text-accent-ink underline underline-offset-2"
          >
            {t('why.first')}
          </Link>
          {question.handed_from.note ? <AgentText text={question.handed_from.note} /> : null}
        </Row>
      ) : null}
      {question.abstained?.length ? (
        <Row name={t('why.abstained')}>
          {question.abstained.map(({ by, note }) => (
            <div key={by.name}>
              <AgentLine text={note ? `${by.name}: ${note}` : by.name} />
            </div>
          ))}
          {question.deserted ? <span className="text-danger-ink">{t('why.deserted')}</span> : null}
        </Row>
      ) : null}
      {question.votes?.length ? (
        <Row name={t('why.votes')}>
          {question.votes.map((vote) => (
            <span key={vote.by.name} className="mr-3">
              <AgentLine text={vote.by.name} />: {t(`effects.${vote.effect}`)}
            </span>
          ))}
        </Row>
      ) : null}
      {question.deadline ? (
        <Row name={t('why.deadline')}>
          {moment(question.deadline, i18n.language)} · {fallbackWords(t, question, fallback)}
        </Row>
      ) : null}
    </dl>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

/** People who may answer. If several audiences must be satisfied, a list in which satisfied ones are ticked. */
export function Audiences({ question }: { question: Pick<Interaction, 'audience' | 'requirements'> }) {
  const { t } = useTranslation();
  const { audience, requirements } = question;
  if (!requirements?.length) return <AgentLine text={audienceWords(t, audience)} />;
  return (
    <ul className="space-y-1">
      {requirements.map((one) => (
        <li key={JSON.stringify({ ...one, met: undefined })} className="flex items-start gap-1.5">
          {one.met ? (
            <CircleCheck role="img" aria-label={t('why.met')} className="mt-0.5 size-4 shrink-0 text-good-ink" />
          ) : (
            <Circle role="img" aria-label={t('why.unmet')} className="mt-0.5 size-4 shrink-0 text-muted" />
          )}
          <span className="min-w-0">
            <AgentLine text={audienceWords(t, one, true)} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function fallbackWords(t: TFunction, question: Interaction, fallback: Interaction['fallback']): string {
  if (fallback === 'deny') return t('why.thenDeny');
  if (fallback === 'hold') return t('why.thenHold');
  if (fallback && typeof fallback === 'object' && 'option' in fallback) {
    const option = question.options.find((one) => one.id === fallback.option);
    return t('why.thenOption', { label: option ? moveLabel(t, option) : fallback.option });
  }
  return fallback ? t('why.thenValue') : t('why.thenExpires');
}
