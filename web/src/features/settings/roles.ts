import type { Role } from '@/api/types';

/** What a person can be. */
export const ROLES: Role[] = ['operator', 'viewer', 'admin'];

/** The groups that were written into a form, one after the other. */
export function groupsIn(form: FormData): string[] {
  return String(form.get('groups'))
    .split(/[\s,]+/u)
    .filter(Boolean);
}
