import type { Me } from '@/api/people';
import type { Interaction } from '@/api/types';
import { type Audience, audiencesOf } from './audience';

/** Why somebody may not answer a question. */
export type Bar = 'own' | 'four_eyes' | 'not_in_audience' | 'agent';

type Asked = Pick<Interaction, 'asked_by' | 'audience' | 'requirements'>;
type Somebody = Pick<Me, 'name' | 'role' | 'groups'>;

/** Whether two names are those of the same person: upper and lower case are the same. */
function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/**
 * Whether somebody may answer, as the server will judge it too: never who asked, with four eyes not who started the session, and
 * only who is in the audience, or in one of several. Without one those are operators, administrators and who started the session.
 */
export function barred(asked: Asked, me: Somebody, startedBy?: string): Bar | undefined {
  const started = startedBy !== undefined && sameName(me.name, startedBy);
  if (me.role === 'agent') return 'agent';
  if (sameName(me.name, asked.asked_by.name)) return 'own';
  let bar: Bar = 'not_in_audience';
  for (const audience of audiencesOf(asked)) {
    if (audience.four_eyes && started) bar = 'four_eyes';
    else if (includes(audience, me, started)) return undefined;
  }
  return bar;
}

function includes({ users, groups, roles }: Audience, me: Somebody, started: boolean): boolean {
  if (!(users ?? groups ?? roles)) return started || me.role === 'admin' || me.role === 'operator';
  const grouped = groups?.some((group) => me.groups.includes(group));
  return Boolean(users?.some((user) => sameName(user, me.name)) || roles?.includes(me.role) || grouped);
}
