import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Maximize2 } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { interactionQuery } from '@/api/queries';
import { messageOf, titleOf } from '@/model/labels';
import { AgentLine, AgentText } from '@/ui/agent-text';
import { KindIcon, useKindName } from '@/ui/kind';
import { Waiting } from '@/ui/page';
import { Countdown } from '@/ui/time';
import { Answer } from './answer';
import { DecisionBasis } from './decision-basis';
import { Ended } from './resolution';

/** A question inside its session page, with a link to its full page. */
export function InlineQuestion({ id }: { id: string }) {
  const { t } = useTranslation();
  const kindName = useKindName();
  const { data: question } = useQuery(interactionQuery(id));
  const heading = useRef<HTMLHeadingElement>(null);
  const left = useRef(false);
  const over = question !== undefined && question.status !== 'pending';
  useEffect(() => {
    if (over && left.current) heading.current?.focus({ preventScroll: true });
  }, [over]);
  if (!question) return <Waiting rows={3} label={t('common.loading')} />;
  const message = messageOf(t, question);
  return (
    <article aria-labelledby={`title-${id}`} className="flex flex-col gap-4 p-4">
      <header className="space-y-1">
        <div className="flex items-center gap-2 text-muted text-sm">
          <KindIcon kind={question.kind} className="size-4" />
          {kindName(question.kind)}
          <span className="ml-auto flex items-center gap-3">
            {question.status === 'pending' && question.deadline ? <Countdown until={question.deadline} /> : null}
            <Link
              to="/inbox/$interaction"
              params={{ interaction: id }}
              aria-label={t('question.wholePage')}
              className="rounded p-1 hover:text-ink"
            >
              <Maximize2 aria-hidden="true" className="size-4" />
            </Link>
          </span>
        </div>
        <h3 ref={heading} tabIndex={-1} id={`title-${id}`} className="font-semibold text-lg outline-none">
          <AgentLine text={titleOf(t, question)} />
        </h3>
      </header>
      {message ? <AgentText text={message} /> : null}
      <DecisionBasis question={question} />
      {question.status === 'pending' ? <Answer question={question} left={left} /> : <Ended question={question} />}
    </article>
  );
}
