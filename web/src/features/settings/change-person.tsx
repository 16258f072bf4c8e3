import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { type Person, people } from '@/api/people';
import type { Role } from '@/api/types';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input, Select } from '@/ui/field';
import { Notice } from '@/ui/page';
import { ProblemNotice } from '@/ui/problem';
import { groupsIn, ROLES } from './roles';

/** Another role or other groups for somebody; for whoever is locked out, the way back in with them. */
export function ChangePerson({ person, onClose }: { person: Person; onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const id = useId();
  const out = Boolean(person.disabled_at);
  const change = useMutation({
    mutationFn: (form: FormData) =>
      people.change(person.name, {
        role: String(form.get('role')) as Role,
        groups: groupsIn(form),
        ...(out ? { disabled: false } : {}),
      }),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: ['people'] });
      // It may have been oneself.
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
        <Field label={t('keys.role')}>
          {(ids) => (
            <Select {...ids} name="role" defaultValue={person.role}>
              {ROLES.map((role) => (
                <option key={role} value={role}>
                  {t(`roles.${role}`)}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label={t('keys.groups')} optional={t('common.optional')}>
          {(ids) => <Input {...ids} name="groups" autoComplete="off" defaultValue={person.groups.join(' ')} />}
        </Field>
        {person.external ? <Notice>{t('people.external')}</Notice> : null}
        {change.error ? <ProblemNotice error={change.error} /> : null}
      </form>
    </Dialog>
  );
}
