import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Person, people } from '@/api/people';
import { peopleQuery } from '@/api/queries';
import { AgentLine } from '@/ui/agent-text';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { CopyBox } from '@/ui/copy';
import { Dialog } from '@/ui/dialog';
import { ProblemNotice } from '@/ui/problem';
import { ChangePerson } from './change-person';
import { ListFrame } from './list-frame';
import { NewCredentialDialog } from './new-credential-dialog';
import { NewPerson } from './new-person';

/** The people of the project, with one-time links and a way to disable them. */
export function People() {
  const { t } = useTranslation();
  const query = useQuery(peopleQuery());
  const [adding, setAdding] = useState(false);
  const [linked, setLinked] = useState<Person>();
  const [changing, setChanging] = useState<Person>();
  const [leaving, setLeaving] = useState<Person>();
  return (
    <ListFrame
      about={t('people.about')}
      action={t('people.new')}
      onNew={() => setAdding(true)}
      query={query}
      entries={query.data?.users}
      row={(person) => (
        <Row
          key={person.name}
          person={person}
          onLink={() => setLinked(person)}
          onChange={() => setChanging(person)}
          onDisable={() => setLeaving(person)}
        />
      )}
    >
      {adding ? <NewPerson onClose={() => setAdding(false)} onAdded={setLinked} /> : null}
      {linked ? <LinkFor person={linked} onClose={() => setLinked(undefined)} /> : null}
      {changing ? <ChangePerson person={changing} onClose={() => setChanging(undefined)} /> : null}
      {leaving ? <Disable person={leaving} onClose={() => setLeaving(undefined)} /> : null}
    </ListFrame>
  );
}

interface RowProps {
  person: Person;
  onLink: () => void;
  onChange: () => void;
  onDisable: () => void;
}

function Row({ person, onLink, onChange, onDisable }: RowProps) {
  const { t } = useTranslation();
  const out = Boolean(person.disabled_at);
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="flex min-w-0 flex-1 basis-60 flex-wrap items-center gap-2">
        <span className="font-medium">
          <AgentLine text={person.display || person.name} />
        </span>
        {person.display ? (
          <span className="text-muted">
            <AgentLine text={person.name} />
          </span>
        ) : null}
        <Badge tone={person.role === 'admin' ? 'accent' : 'plain'}>{t(`roles.${person.role}`)}</Badge>
        {person.groups?.map((group) => (
          <Badge key={group}>{group}</Badge>
        ))}
        {out ? <Badge tone="danger">{t('people.disabled')}</Badge> : null}
      </div>
      {out ? (
        <Button size="sm" aria-label={t('people.enableOf', { name: person.name })} onClick={onChange}>
          {t('people.enable')}
        </Button>
      ) : (
        <span className="flex flex-wrap gap-2">
          <Button size="sm" aria-label={t('people.changeOf', { name: person.name })} onClick={onChange}>
            {t('people.change')}
          </Button>
          <Button size="sm" aria-label={t('people.linkFor', { name: person.name })} onClick={onLink}>
            {t('people.link')}
          </Button>
          <Button size="sm" tone="danger" aria-label={t('people.disableOf', { name: person.name })} onClick={onDisable}>
            {t('people.disable')}
          </Button>
        </span>
      )}
    </li>
  );
}

function LinkFor({ person, onClose }: { person: Person; onClose: () => void }) {
  const { t } = useTranslation();
  const make = useMutation({ gcTime: 0, mutationFn: () => people.link(person.name) });
  return (
    <NewCredentialDialog
      title={t('people.linkTitle', { name: person.display || person.name })}
      about={t('people.linkAbout')}
      make={make}
      action={t('people.makeLink')}
      onAction={() => make.mutate()}
      onClose={onClose}
    >
      {make.data ? <CopyBox label={t('people.link')} value={new URL(make.data.url, location.origin).href} /> : null}
      {make.error ? <ProblemNotice error={make.error} /> : null}
    </NewCredentialDialog>
  );
}

function Disable({ person, onClose }: { person: Person; onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const disable = useMutation({
    mutationFn: () => people.disable(person.name),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: ['people'] });
      onClose();
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('people.disableTitle', { name: person.display || person.name })}
      about={t('people.disableAbout')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button tone="solidDanger" busy={disable.isPending} onClick={() => disable.mutate()}>
            {t('people.disable')}
          </Button>
        </>
      }
    >
      {disable.error ? <ProblemNotice error={disable.error} /> : null}
    </Dialog>
  );
}
