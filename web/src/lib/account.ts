const NAME = 'holdpoint-account';

/** What the cookie of this browser has come to: it speaks for nobody any more, or for somebody, in some project. */
export type Account = 'left' | 'entered';

/** All tabs have one cookie: the others are told when it speaks for another person or project. */
export function tellTabs(account: Account): void {
  if (!('BroadcastChannel' in window)) return;
  const channel = new BroadcastChannel(NAME);
  channel.postMessage(account);
  channel.close();
}

const GONE = 'holdpoint-at-provider';

/** This tab goes to an identity provider, which sends it back as a fresh page. */
export function leaveForProvider(): void {
  sessionStorage.setItem(GONE, '1');
}

/** A tab that is back from there, and not at the door again, has come in: the others are told. */
export function backFromProvider(path: string): boolean {
  // At the door it may still be on its way there: what is read anew here was begun before.
  if (sessionStorage.getItem(GONE) === null || path === '/sign-in') return false;
  sessionStorage.removeItem(GONE);
  tellTabs('entered');
  return true;
}

const NEXT = 'holdpoint-next';

/** Where somebody at the door wanted to go: neither a provider nor a one-time link knows it. */
export function keepNext(next: string): void {
  sessionStorage.setItem(NEXT, next);
}

export function keptNext(): string | undefined {
  return sessionStorage.getItem(NEXT) ?? undefined;
}

/** Whoever is inside has come to where they wanted to go. */
export function forgetNext(): void {
  sessionStorage.removeItem(NEXT);
}

/** Hears what another tab has done with the cookie, for as long as the page lives. */
export function hearTabs(heard: (account: Account) => void): void {
  if (!('BroadcastChannel' in window)) return;
  new BroadcastChannel(NAME).onmessage = ({ data }: MessageEvent<Account>) => heard(data);
}
