import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type SessionFilter, sessionsQuery } from '@/api/queries';
import { Input, Select } from '@/ui/field';

const STATUSES = ['new', 'running', 'waiting_user_input', 'paused', 'completed', 'failed', 'cancelled'] as const;

interface Props {
  filter: SessionFilter;
  onFilter: (change: SessionFilter) => void;
}

/** Filters of the session list, kept in the address. */
export function Filters({ filter, onFilter }: Props) {
  const { t } = useTranslation();
  return (
    <>
      <AgentFilter agent={filter.agent ?? ''} onAgent={(agent) => onFilter({ agent: agent || undefined })} />
      <Select
        className="w-auto! max-sm:w-full!"
        aria-label={t('inbox.status')}
        value={filter.status ?? ''}
        onChange={(event) => onFilter({ status: (event.target.value || undefined) as SessionFilter['status'] })}
      >
        <option value="">{t('sessions.every')}</option>
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {t(`sessionStatus.${status}`)}
          </option>
        ))}
      </Select>
    </>
  );
}

/** Filter by exact agent name, with suggestions from the newest sessions. */
function AgentFilter({ agent, onAgent }: { agent: string; onAgent: (agent: string) => void }) {
  const { t } = useTranslation();
  const names = useId();
  const [text, setText] = useState(agent);
  useEffect(() => setText(agent), [agent]);
  const { data } = useInfiniteQuery(sessionsQuery({}));
  const known = new Set(data?.pages.flatMap((page) => page.sessions.map((session) => session.agent ?? '')));
  known.delete('');
  return (
    <>
      <Input
        type="search"
        className="w-56! max-sm:w-full!"
        aria-label={t('inbox.agent')}
        placeholder={t('sessions.agentHint')}
        title={t('sessions.agentHint')}
        list={names}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          onAgent(event.target.value);
        }}
      />
      <datalist id={names}>
        {[...known].sort().map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
