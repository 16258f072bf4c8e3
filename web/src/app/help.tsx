import { lazy, Suspense } from 'react';
import { create } from 'zustand';
import { useShortcuts } from '@/lib/shortcuts';

export const useHelp = create<{ open: boolean }>(() => ({ open: false }));

const HelpDialog = lazy(() => import('./help-dialog'));

/** The dialog with keyboard shortcuts, opened by `?`. */
export function Help() {
  const open = useHelp((state) => state.open);
  useShortcuts({ '?': () => useHelp.setState({ open: true }) });
  return open ? (
    <Suspense>
      <HelpDialog onClose={() => useHelp.setState({ open: false })} />
    </Suspense>
  ) : null;
}
