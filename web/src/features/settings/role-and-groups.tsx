import { useTranslation } from 'react-i18next';
import type { Role } from '@/api/types';
import { Field, Input, Select } from '@/ui/field';

/** Roles of a person. */
const PEOPLE: Role[] = ['operator', 'viewer', 'admin'];

/** Fields for role and groups. */
export function RoleAndGroups({ of, roles = PEOPLE }: { of?: { role: Role; groups: string[] }; roles?: Role[] }) {
  const { t } = useTranslation();
  return (
    <>
      <Field label={t('keys.role')}>
        {(ids) => (
          <Select {...ids} name="role" defaultValue={of?.role}>
            {roles.map((role) => (
              <option key={role} value={role}>
                {t(`roles.${role}`)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={t('keys.groups')} optional={t('common.optional')}>
        {(ids) => <Input {...ids} name="groups" autoComplete="off" defaultValue={of?.groups.join(' ')} />}
      </Field>
    </>
  );
}

/** Reads role and groups from the form. */
export function readRoleAndGroups(form: FormData): { role: Role; groups: string[] } {
  const groups = String(form.get('groups'))
    .split(/[\s,]+/u)
    .filter(Boolean);
  return { role: String(form.get('role')) as Role, groups: [...new Set(groups)] };
}
