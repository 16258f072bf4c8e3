import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { sessionQuery } from '@/api/queries';
import { useTitle } from '@/app/title';
import { InlineQuestion } from '@/features/question/inline';
import { Session } from '@/features/session/session';
import { oneLine } from '@/lib/text';
import { sessionName } from '@/model/labels';

export function SessionRoute() {
  const { t } = useTranslation();
  const { session } = useParams({ from: '/inside/sessions/$session' });
  const { data } = useQuery(sessionQuery(session));
  useTitle(oneLine(sessionName(t, data), 60));
  return (
    <Session
      key={session}
      id={session}
      question={(id) => <InlineQuestion id={id} />}
      back={
        <Link to="/sessions" className="inline-flex items-center gap-1.5 font-medium text-accent-ink text-sm">
          <ArrowLeft aria-hidden="true" className="size-4" />
          {t('nav.sessions')}
        </Link>
      }
    />
  );
}
