import { useTranslation } from 'react-i18next';
import type { Interaction } from '@/api/types';
import { contextBeside } from '@/model/subject';
import { AgentText } from '@/ui/agent-text';
import { JsonTable } from '@/ui/json';
import { Card, Section } from '@/ui/page';
import { Subject } from '@/ui/subject';
import { Why } from './why';

/** The basis of a decision: the action, the agent's context, and why people are asked. */
export function DecisionBasis({ question }: { question: Interaction }) {
  const { t } = useTranslation();
  const context = contextBeside(question);
  return (
    <>
      <Subject question={question} />
      {question.details ? (
        <Section level={3} title={t('question.details')}>
          <AgentText text={question.details} />
        </Section>
      ) : null}
      {context !== undefined && context !== null ? (
        <Section level={3} title={t('question.context')}>
          <Card className="px-4 py-2">
            <JsonTable value={context} />
          </Card>
        </Section>
      ) : null}
      <Section level={3} title={t('question.why')}>
        <Why question={question} />
      </Section>
    </>
  );
}
