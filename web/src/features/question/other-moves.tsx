import { Ellipsis, Forward, UserX } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Interaction } from '@/api/types';
import { buttonLook } from '@/ui/button';
import { Menu, MenuItem } from '@/ui/menu';
import { MenuButton } from '@/ui/menu-button';
import { ClaimButton } from './claim';

const OtherMoveDialog = lazy(() => import('./other-move-dialog'));

/** Other things to do with a question: claim it, skip it, or hand it over. */
export function OtherMoves({ question, mayAbstain }: { question: Interaction; mayAbstain: boolean }) {
  const { t } = useTranslation();
  const [begun, setBegun] = useState<'abstain' | 'handover'>();
  return (
    <span className="-my-1.5 flex items-center gap-1">
      <ClaimButton question={question} />
      <MenuButton
        label={t('instead.more')}
        className={buttonLook({ tone: 'quiet', size: 'sm' })}
        menu={(props) => (
          <Menu {...props} label={t('instead.more')} align="end">
            {mayAbstain ? (
              <MenuItem onSelect={() => setBegun('abstain')}>
                <UserX aria-hidden="true" />
                {t('instead.abstain.offer')}
              </MenuItem>
            ) : null}
            <MenuItem onSelect={() => setBegun('handover')}>
              <Forward aria-hidden="true" />
              {t('instead.handover.offer')}
            </MenuItem>
          </Menu>
        )}
      >
        <Ellipsis aria-hidden="true" />
      </MenuButton>
      {begun ? (
        <Suspense>
          <OtherMoveDialog question={question} what={begun} onClose={() => setBegun(undefined)} />
        </Suspense>
      ) : null}
    </span>
  );
}
