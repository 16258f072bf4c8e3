const NAME = 'holdpoint-account';

/** State of the session cookie: signed out, or signed in as a person in a project. */
export type Account = 'left' | 'entered';

/** All tabs share one cookie, so other tabs are notified when the person or project changes. */
export function tellTabs(account: Account): void {
  if (!('BroadcastChannel' in window)) return;
  const channel = new BroadcastChannel(NAME);
  channel.postMessage(account);
  channel.close();
}

const GONE = 'holdpoint-at-provider';

/** Notes that this tab leaves for an identity provider, which returns to a newly loaded page. */
export function leaveForProvider(): void {
  sessionStorage.setItem(GONE, '1');
}

/** Whether this tab has returned signed in from an identity provider. If it has, the other tabs are notified. */
export function backFromProvider(path: string): boolean {
  // On the sign-in page the person may not be signed in yet.
  if (sessionStorage.getItem(GONE) === null || path === '/sign-in') return false;
  sessionStorage.removeItem(GONE);
  tellTabs('entered');
  return true;
}

const NEXT = 'holdpoint-next';

/** Destination after sign-in, stored because a provider or one-time link does not carry it. */
export function keepNext(next: string): void {
  sessionStorage.setItem(NEXT, next);
}

export function keptNext(): string | undefined {
  return sessionStorage.getItem(NEXT) ?? undefined;
}

/** Clears the stored destination after sign-in. */
export function forgetNext(): void {
  sessionStorage.removeItem(NEXT);
}

/** Listens for sign-in and sign-out in other tabs. */
export function hearTabs(heard: (account: Account) => void): void {
  if (!('BroadcastChannel' in window)) return;
  new BroadcastChannel(NAME).onmessage = ({ data }: MessageEvent<Account>) => heard(data);
}
