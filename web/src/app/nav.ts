import {
  Bot,
  ChartColumn,
  Inbox,
  KeyRound,
  type LucideIcon,
  MessagesSquare,
  ScrollText,
  Settings,
  ShieldCheck,
} from 'lucide-react';
import type { Role } from '@/api/types';

interface NavLink {
  to: '/inbox' | '/sessions' | '/agents' | '/policy' | '/grants' | '/audit' | '/insights' | '/settings';
  name: 'inbox' | 'sessions' | 'agents' | 'policy' | 'grants' | 'audit' | 'insights' | 'settings';
  icon: LucideIcon;
  only?: readonly Role[];
}

/** All pages and the roles that can use them. The server enforces access; this only hides links. */
export const NAV_LINKS: readonly NavLink[] = [
  { to: '/inbox', name: 'inbox', icon: Inbox },
  { to: '/sessions', name: 'sessions', icon: MessagesSquare },
  { to: '/agents', name: 'agents', icon: Bot },
  { to: '/policy', name: 'policy', icon: ShieldCheck },
  { to: '/grants', name: 'grants', icon: KeyRound },
  { to: '/audit', name: 'audit', icon: ScrollText, only: ['admin'] },
  { to: '/insights', name: 'insights', icon: ChartColumn },
  { to: '/settings', name: 'settings', icon: Settings },
];

/** Links that a person with this role can use. */
export function navLinksFor(role: Role | undefined): readonly NavLink[] {
  return NAV_LINKS.filter((link) => !link.only || (role !== undefined && link.only.includes(role)));
}

/** Pages in the navigation bar of a phone; the others are in its menu. */
export const ALWAYS: readonly string[] = ['inbox', 'sessions', 'insights'];
