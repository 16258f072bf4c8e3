import { useQuery } from '@tanstack/react-query';
import { Ban, Pause, Play } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { meQuery } from '@/api/queries';
import type { Session } from '@/api/types';
import { Button } from '@/ui/button';
import { CommandDialog } from './command-dialog';

const OVER = ['completed', 'failed', 'cancelled'];

/** Buttons that pause, resume or cancel a session, each with a reason. */
export function Controls({ session }: { session: Session }) {
  const { t } = useTranslation();
  const { data: me } = useQuery(meQuery());
  const [command, setCommand] = useState<'pause' | 'resume' | 'cancel' | null>(null);
  if (OVER.includes(session.status) || (me?.role !== 'admin' && me?.role !== 'operator')) return null;
  return (
    <>
      {session.paused ? (
        <Button onClick={() => setCommand('resume')}>
          <Play aria-hidden="true" />
          {t('session.commands.resume.name')}
        </Button>
      ) : (
        <Button onClick={() => setCommand('pause')}>
          <Pause aria-hidden="true" />
          {t('session.commands.pause.name')}
        </Button>
      )}
      <Button tone="danger" onClick={() => setCommand('cancel')}>
        <Ban aria-hidden="true" />
        {t('session.commands.cancel.name')}
      </Button>
      {command ? <CommandDialog session={session} command={command} onClose={() => setCommand(null)} /> : null}
    </>
  );
}
