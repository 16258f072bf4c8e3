import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { type Person, people } from '@/api/people';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Notice } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { RoleAndGroups, readRoleAndGroups } from './role-and-groups';

/** Changes the role and groups of a person; also enables a disabled person. */
export function ChangePerson({ person, onClose }: { person: Person; onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const id = useId();
  const out = Boolean(person.disabled_at);
  const change = useMutation({
    mutationFn: (form: FormData) =>
      people.change(person.name, {
        ...readRoleAndGroups(form),
        ...(out ? { disabled: false } : {}),
      }),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: ['people'] });
      // The changed person may be the signed-in one.
      void cache.invalidateQueries({ queryKey: ['me'] });
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    change.mutate(new FormData(event.currentTarget));
  };
  const name = person.display || person.name;
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t(out ? 'people.enableTitle' : 'people.changeTitle', { name })}
      about={t(out ? 'people.enableAbout' : 'people.changeAbout')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button type="submit" form={id} tone="accent" busy={change.isPending}>
            {t(out ? 'people.enable' : 'people.save')}
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={submit} className="space-y-4">
        <RoleAndGroups of={person} />
        {person.external ? <Notice>{t('people.external')}</Notice> : null}
        {change.error ? <ProblemNotice error={change.error} /> : null}
      </form>
    </Dialog>
  );
}
