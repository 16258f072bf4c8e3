import type { TFunction } from 'i18next';
import type { Interaction } from '@/api/types';

export type Audience = Interaction['audience'];

/** The audiences that must each be satisfied: the requirements, or the only audience. */
export function audiencesOf({ audience, requirements }: Pick<Interaction, 'audience' | 'requirements'>): Audience[] {
  return requirements?.length ? requirements : [audience];
}

/** Everybody who may answer a question, by name. */
export function audienceNames(t: TFunction, question: Pick<Interaction, 'audience' | 'requirements'>): string {
  return [...new Set(audiencesOf(question).flatMap((audience) => namesOf(t, audience)))].join(', ');
}

/**
 * Describes an audience: its members, the number who must agree, and who is excluded. `counted` also states a quorum of
 * one.
 */
export function audienceWords(t: TFunction, audience: Audience, counted = false): string {
  const { quorum, four_eyes, distinct_groups } = audience;
  const parts = [namesOf(t, audience).join(', ')];
  if (counted || quorum > 1) parts.push(t('why.quorum', { count: quorum }));
  if (distinct_groups) parts.push(t('why.distinct'));
  if (four_eyes) parts.push(t('why.fourEyes'));
  return parts.join(' · ');
}

function namesOf(t: TFunction, { users, groups, roles }: Audience): string[] {
  const named = [
    ...(users ?? []),
    ...(groups ?? []).map((name) => t('why.group', { name })),
    ...(roles ?? []).map((name) => t('why.role', { name: t(`roles.${name as 'admin'}`, { defaultValue: name }) })),
  ];
  return named.length > 0 ? named : [t('why.everyOperator')];
}
