import type { Me } from '@/api/people';
import type { Interaction } from '@/api/types';

/** Why somebody may not answer a question. */
export type Bar = 'own' | 'four_eyes' | 'not_in_audience' | 'agent';

type Asked = Pick<Interaction, 'asked_by' | 'audience'>;
type Somebody = Pick<Me, 'name' | 'role' | 'groups'>;

/** Whether two names are those of the same person: upper and lower case are the same. */
function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/**
 * Whether somebody may answer, as the server will judge it too: never who asked, with four eyes not who started the session, and
 * only who is in the audience. Without one those are operators, administrators and who started the session.
 */
export function barred({ asked_by, audience }: Asked, me: Somebody, startedBy?: string): Bar | undefined {
  const { users, groups, roles } = audience;
  const started = startedBy !== undefined && sameName(me.name, startedBy);
  if (me.role === 'agent') return 'agent';
  if (sameName(me.name, asked_by.name)) return 'own';
  if (audience.four_eyes && started) return 'four_eyes';
  const named = users ?? groups ?? roles;
  const inside = named
    ? users?.some((user) => sameName(user, me.name)) || roles?.includes(me.role) || groups?.some((group) => me.groups.includes(group))
    : started || me.role === 'admin' || me.role === 'operator';
  return inside ? undefined : 'not_in_audience';
}
