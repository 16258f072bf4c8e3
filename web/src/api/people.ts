import { api, responseBody } from './client';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Me = Schemas['MeView'];
export type Person = Schemas['UserView'];

/** Requests for people and sign-in. Requests with a password or token are sent once and never cached. */
export const people = {
  me: () => responseBody(api.GET('/v1/me')),
  offer: () => responseBody(api.GET('/v1/sign-in')),
  signIn: (user: string, password: string) =>
    responseBody(api.POST('/v1/sign-in/password', { body: { user, password } })),
  enterBy: (token: string) => responseBody(api.POST('/v1/sign-in/link', { body: { token } })),
  signOut: () => responseBody(api.POST('/v1/sign-out')),
  speakFor: (project: string) => responseBody(api.PUT('/v1/me/project', { body: { project } })),
  setPassword: (next: string, old?: string) => responseBody(api.PUT('/v1/me/password', { body: { new: next, old } })),
  list: (cursor?: string) => responseBody(api.GET('/v1/users', { params: { query: { cursor, limit: 200 } } })),
  add: (person: Schemas['UserBody']) => responseBody(api.POST('/v1/users', { body: person })),
  change: (name: string, body: Schemas['UserChangeBody']) =>
    responseBody(api.PATCH('/v1/users/{user}', { params: { path: { user: name } }, body })),
  disable: (name: string) => responseBody(api.DELETE('/v1/users/{user}', { params: { path: { user: name } } })),
  link: (name: string) =>
    responseBody(api.POST('/v1/users/{user}/link', { params: { path: { user: name } }, body: {} })),
};
