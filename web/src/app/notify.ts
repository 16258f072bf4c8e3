import type { QueryClient } from '@tanstack/react-query';
import { interactionQuery, meQuery, sessionQuery } from '@/api/queries';
import type { SessionEvent } from '@/api/types';
import { oneLine } from '@/lib/text';
import { barred } from '@/model/may';
import { usePreferences } from './preferences';

/** Whether this browser can show notifications at all. */
export const canNotify = 'Notification' in window && window.isSecureContext;

/** Asks for notification permission and stores the choice. Returns whether notifications are allowed. */
export async function wantNotifications(wanted: boolean): Promise<boolean> {
  const allowed = wanted && canNotify && (await Notification.requestPermission()) === 'granted';
  usePreferences.setState({ notify: allowed });
  return allowed === wanted;
}

const LOOKING = 'holdpoint-looking';

/** Holds a lock while this tab is visible, so that other tabs know. */
export function lookAt(whose: string): () => void {
  const stop = new AbortController();
  let hidden = () => {};
  const look = () => {
    hidden();
    if (stop.signal.aborted || document.visibilityState === 'hidden' || !('locks' in navigator)) return;
    const gone = new Promise<void>((resolve) => (hidden = resolve));
    void navigator.locks.request(`${LOOKING} ${whose}`, { mode: 'shared' }, () => gone).catch(() => undefined);
  };
  document.addEventListener('visibilitychange', look, { signal: stop.signal });
  look();
  return () => {
    stop.abort();
    hidden();
  };
}

async function looking(whose: string): Promise<boolean> {
  if (document.visibilityState === 'visible') return true;
  const { held = [] } = await navigator.locks.query();
  return held.some(({ name }) => name === `${LOOKING} ${whose}`);
}

interface Options {
  whose: string;
  cache: QueryClient;
  open: (interaction: string) => void;
}

/** Notifies of a new question that the person may answer if no tab is visible. Errors never stop the stream. */
export async function notifyOf(event: SessionEvent, { whose, cache, open }: Options): Promise<void> {
  const asked = event.type === 'interaction.asked' && event.interaction;
  if (!asked || !canNotify || !usePreferences.getState().notify || Notification.permission !== 'granted') return;
  try {
    if ((await looking(whose)) || !(await mayAnswer(cache, event.session, asked))) return;
    const data = event.data as { title?: string; by?: { name?: string } };
    const shown = new Notification(oneLine(data.title ?? ''), {
      body: oneLine(data.by?.name ?? ''),
      tag: asked,
      icon: '/icon.svg',
    });
    shown.onclick = () => {
      window.focus();
      open(asked);
      shown.close();
    };
  } catch {
    // Some browsers offer `Notification` but do not allow pages to create one.
  }
}

async function mayAnswer(cache: QueryClient, session: string, asked: string): Promise<boolean> {
  const [me, question, { started_by: starter }] = await Promise.all([
    cache.ensureQueryData(meQuery()),
    cache.fetchQuery(interactionQuery(asked)),
    cache.ensureQueryData(sessionQuery(session)),
  ]);
  return question.status === 'pending' && barred(question, me, starter.name) === undefined;
}
