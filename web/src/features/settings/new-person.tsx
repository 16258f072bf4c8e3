import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { type Person, people } from '@/api/people';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { ProblemNotice } from '@/ui/problem';
import { RoleAndGroups, readRoleAndGroups } from './role-and-groups';

export function NewPerson({ onClose, onAdded }: { onClose: () => void; onAdded: (person: Person) => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const id = useId();
  const add = useMutation({
    mutationFn: (form: FormData) =>
      people.add({
        name: String(form.get('name')).trim(),
        display: String(form.get('display')).trim() || undefined,
        ...readRoleAndGroups(form),
      }),
    onSuccess: (person) => {
      void cache.invalidateQueries({ queryKey: ['people'] });
      onClose();
      onAdded(person);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    add.mutate(new FormData(event.currentTarget));
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('people.newTitle')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button type="submit" form={id} tone="accent" busy={add.isPending}>
            {t('people.add')}
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={submit} className="space-y-4">
        <Field label={t('signIn.user')}>
          {(ids) => <Input {...ids} name="name" autoComplete="off" autoCapitalize="off" required />}
        </Field>
        <Field label={t('people.display')} optional={t('common.optional')}>
          {(ids) => <Input {...ids} name="display" autoComplete="off" />}
        </Field>
        <RoleAndGroups />
        {add.error ? <ProblemNotice error={add.error} /> : null}
      </form>
    </Dialog>
  );
}
