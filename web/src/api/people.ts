import { PAGE_HEADERS } from './client';
import { asProblem, Problem } from './problem';
import type { Role } from './types';

/** Who is signed in, and for which project. */
export interface Me {
  name: string;
  display?: string | null;
  role: Role;
  tenant: string;
  project: string;
  projects: { project: string; name: string; role: Role }[];
  via: 'cookie' | 'key';
  /** Whether there is a password, one may be set without an old one, or none can be. */
  password?: 'known' | 'settable' | 'none';
}

export interface Person {
  name: string;
  display?: string | null;
  role: Role;
  groups?: string[];
  disabled?: boolean;
  disabled_at?: string | null;
}

export interface SignInOffer {
  password: boolean;
  oidc: { label: string; url: string } | null;
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      headers: body === undefined ? PAGE_HEADERS : { ...PAGE_HEADERS, 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    throw asProblem(error);
  }
  const text = await response.text();
  const value = text === '' ? undefined : JSON.parse(text);
  if (!response.ok) throw new Problem(response.status, value ?? {});
  return value as T;
}

export const people = {
  me: () => call<Me>('GET', '/v1/me'),
  offer: () => call<SignInOffer>('GET', '/v1/sign-in'),
  signIn: (user: string, password: string) => call<void>('POST', '/v1/sign-in/password', { user, password }),
  enterBy: (token: string) => call<void>('POST', '/v1/sign-in/link', { token }),
  signOut: () => call<void>('POST', '/v1/sign-out'),
  speakFor: (project: string) => call<void>('PUT', '/v1/me/project', { project }),
  setPassword: (next: string, old?: string) => call<void>('PUT', '/v1/me/password', { new: next, old }),
  list: () => call<{ users: Person[] }>('GET', '/v1/users'),
  add: (person: { name: string; display?: string; role: Role; groups?: string[] }) =>
    call<Person>('POST', '/v1/users', person),
  disable: (name: string) => call<void>('DELETE', `/v1/users/${encodeURIComponent(name)}`),
  link: (name: string) =>
    call<{ url: string; expires_at: string }>('POST', `/v1/users/${encodeURIComponent(name)}/link`),
};
