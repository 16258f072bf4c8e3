import { useQuery } from '@tanstack/react-query';
import { SearchX } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { asProblem } from '@/api/problem';
import { interactionQuery } from '@/api/queries';
import type { Interaction } from '@/api/types';
import { askerOf, messageOf, titleOf } from '@/model/labels';
import { AgentLine, AgentText } from '@/ui/agent-text';
import { KindIcon, useKindName } from '@/ui/kind';
import { Empty, Waiting } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { StatusBadge } from '@/ui/status';
import { Ago, Countdown } from '@/ui/time';
import { Answer } from './answer';
import { Closed } from './closed';
import { DecisionBasis } from './decision-basis';
import { EarlierEvents, History } from './past';
import { Ended } from './resolution';

interface Props {
  id: string;
  begin?: 'approve' | 'edit' | 'reject';
  back?: ReactNode;
  next?: ReactNode;
}

/** One question with everything needed to decide it. */
export function Question({ id, begin, back, next }: Props) {
  const { t } = useTranslation();
  const { data: question, error, refetch } = useQuery(interactionQuery(id));
  const wasOpen = useRef(false);
  const left = useRef(false);
  if (question?.status === 'pending') wasOpen.current = true;
  if (!question) {
    if (!error) return <Waiting rows={8} label={t('common.loading')} />;
    if (['not_found', 'id_invalid'].includes(asProblem(error).code)) {
      return <Empty level={onlyPage() ? 1 : 2} icon={SearchX} title={t('question.notFound')} />;
    }
    return (
      <div className="p-6">
        <ProblemNotice error={error} again={() => void refetch()} />
      </div>
    );
  }
  const message = messageOf(t, question);
  return (
    <article
      className="mx-auto flex max-w-3xl flex-col gap-6 px-4 py-5 sm:px-8 sm:py-7"
      aria-labelledby={`title-${id}`}
    >
      <QuestionHeader question={question} back={back} />
      <Ended question={question} />
      {message ? <AgentText text={message} className="text-lg" /> : null}
      <DecisionBasis question={question} />
      <EarlierEvents question={question} />
      {question.status === 'pending' ? (
        <Answer key={question.id} question={question} begin={begin} left={left} dock />
      ) : wasOpen.current && question.resolution ? (
        <Closed question={question} resolution={question.resolution} next={next} left={left} />
      ) : (
        <div>{next}</div>
      )}
      <History question={question} />
    </article>
  );
}

/** On a phone the list is hidden and the question is the page. */
function onlyPage(): boolean {
  return !matchMedia('(min-width: 64rem)').matches;
}

function QuestionHeader({ question, back }: { question: Interaction; back?: ReactNode }) {
  const { t } = useTranslation();
  const kindName = useKindName();
  const heading = useRef<HTMLHeadingElement>(null);
  const id = question.id;
  const Heading = onlyPage() ? 'h1' : 'h2';
  // biome-ignore lint/correctness/useExhaustiveDependencies: another question is another page to a screen reader
  useEffect(() => {
    // Moves the focus to the title, so that a screen reader starts there.
    if (onlyPage()) heading.current?.focus({ preventScroll: true });
  }, [id]);
  return (
    <header className="space-y-2">
      {back}
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-muted text-sm">
        <span className="inline-flex items-center gap-1.5 font-medium">
          <KindIcon kind={question.kind} className="size-4" />
          {kindName(question.kind)}
        </span>
        <span aria-hidden="true">·</span>
        <AgentLine text={askerOf(t, question)} />
        <span aria-hidden="true">·</span>
        <Ago at={question.created_at} />
        <span className="ml-auto flex items-center gap-2">
          {question.status === 'pending' && question.deadline ? <Countdown until={question.deadline} /> : null}
          <StatusBadge status={question.status} />
        </span>
      </div>
      <Heading
        ref={heading}
        tabIndex={-1}
        id={`title-${id}`}
        className="font-semibold text-2xl leading-snug tracking-tight outline-none"
      >
        <AgentLine text={titleOf(t, question)} />
      </Heading>
    </header>
  );
}
