import { Link } from '@tanstack/react-router';
import { ArrowRight, Forward } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Interaction } from '@/api/types';
import { AgentLine, AgentText } from '@/ui/agent-text';
import { Notice } from '@/ui/page';
import { Ago } from '@/ui/time';

/** Link to the question that replaced a handed-over one. This one ends with the same result. */
export function HandedOver({ to }: { to: NonNullable<Interaction['handed_over']> }) {
  const { t } = useTranslation();
  return (
    <Notice tone="warn" icon={Forward} title={<AgentLine text={t('instead.handover.done', { name: to.by.name })} />}>
      <div className="mt-1 space-y-2 text-sm">
        <Ago at={to.at} />
        {to.note ? <AgentText text={to.note} /> : null}
        <Link
          to="/inbox/$interaction"
          params={{ interaction: to.interaction }}
          className="inline-flex items-center gap-1.5 font-medium underline underline-offset-2"
        >
          {t('instead.handover.there')}
          <ArrowRight aria-hidden="true" className="size-4" />
        </Link>
      </div>
    </Notice>
  );
}
