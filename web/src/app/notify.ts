import type { SessionEvent } from '@/api/types';
import { oneLine } from '@/lib/text';
import { usePreferences } from './preferences';

/** Whether this browser can show notifications at all. */
export const canNotify = 'Notification' in window && window.isSecureContext;

/** Asks the browser for leave, and remembers what the person wants. */
export async function wantNotifications(wanted: boolean): Promise<void> {
  const allowed = wanted && canNotify && (await Notification.requestPermission()) === 'granted';
  usePreferences.setState({ notify: allowed });
}

/** Tells of a new question while nobody looks at the page. */
export function notifyOf(event: SessionEvent, open: (interaction: string) => void): void {
  const asked = event.type === 'interaction.asked' && event.interaction;
  if (!asked || !canNotify || !usePreferences.getState().notify || document.visibilityState === 'visible') return;
  if (Notification.permission !== 'granted') return;
  const data = event.data as { title?: string; by?: { name?: string } };
  const shown = new Notification(oneLine(data.title ?? ''), {
    body: oneLine(data.by?.name ?? ''),
    tag: event.interaction ?? event.id,
    icon: '/icon.svg',
  });
  shown.onclick = () => {
    window.focus();
    open(asked);
    shown.close();
  };
}
