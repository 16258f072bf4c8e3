import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { sessionQuery } from '@/api/queries';
import type { Interaction } from '@/api/types';
import { moment } from '@/lib/time';
import { askerOf, moveLabel, sessionName } from '@/model/labels';
import { AgentLine, AgentText } from '@/ui/agent-text';

/** Who asks, which rule made them ask, who may answer, and what happens if nobody does. */
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
      {rule ? <Row name={t('why.rule')}>{rule.rule ? <code>{rule.rule}</code> : t('why.noRule')}</Row> : null}
      <Row name={t('why.audience')}>
        <Audience question={question} />
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

function Audience({ question }: { question: Interaction }) {
  const { t } = useTranslation();
  const { users, groups, roles, quorum, four_eyes, distinct_groups } = question.audience;
  const named = [
    ...(users ?? []).map((name) => name),
    ...(groups ?? []).map((name) => t('why.group', { name })),
    ...(roles ?? []).map((name) => t('why.role', { name: t(`roles.${name as 'admin'}`, { defaultValue: name }) })),
  ];
  const parts = [named.length > 0 ? named.join(', ') : t('why.everyOperator')];
  if (quorum > 1) parts.push(t('why.quorum', { count: quorum }));
  if (distinct_groups) parts.push(t('why.distinct'));
  if (four_eyes) parts.push(t('why.fourEyes'));
  return <AgentLine text={parts.join(' · ')} />;
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
