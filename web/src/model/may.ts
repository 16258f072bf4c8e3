import type { Me } from '@/api/people';
import type { Interaction } from '@/api/types';
import { type Audience, audiencesOf } from './audience';

/** Reason why a person may not answer a question. */
export type Bar = 'own' | 'four_eyes' | 'not_in_audience' | 'agent';

type AskedQuestion = Pick<Interaction, 'asked_by' | 'audience' | 'requirements'>;
type Somebody = Pick<Me, 'name' | 'role' | 'groups'>;

/** Whether two names belong to one person. Letter case is ignored. */
function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/**
 * Reason why a person may not answer, by the rules that the server also applies: the asker never may; with four eyes,
 * the person who started the session may not; others must be in one of the audiences. An audience without members means
 * operators, admins and the person who started the session.
 */
export function barred(asked: AskedQuestion, me: Somebody, startedBy?: string): Bar | undefined {
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
