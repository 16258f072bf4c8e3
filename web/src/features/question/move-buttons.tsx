import { Ellipsis, TriangleAlert } from 'lucide-react';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Interaction } from '@/api/types';
import { cn } from '@/lib/cn';
import { moveName } from '@/model/labels';
import { type Inputs, type Move, refuses, takes } from '@/model/moves';
import { AgentLine } from '@/ui/agent-text';
import { Button, buttonLook } from '@/ui/button';
import { Menu, MenuItem } from '@/ui/menu';
import { MenuButton } from '@/ui/menu-button';

interface Props {
  question: Interaction;
  moves: Move[];
  inputs: Inputs;
  sending: boolean;
  blocked: boolean;
  onPick: (move: Move) => void;
}

const LONG = 24;
const MIDDLING = 14;

/**
 * One button for each way to answer. The first button continues the session; dangerous buttons are marked and come
 * last.
 */
export function MoveButtons({ question, moves, inputs, sending, blocked, onPick }: Props) {
  const { t } = useTranslation();
  const danger = useId();
  const rare = moves.length > 4 ? moves.filter((move) => move.does === 'end_session' && !move.dangerous) : [];
  const shown = moves.filter((move) => !rare.includes(move));
  const longest = Math.max(0, ...shown.map((move) => moveName(t, question, move).length));
  return (
    <div
      className={cn(
        'flex flex-wrap gap-2 max-sm:[&>button]:flex-1',
        // On a phone, a button with a long label has its own row; shorter labels share a row in twos or threes.
        longest > LONG
          ? 'max-sm:[&>[data-move]]:basis-full'
          : longest > MIDDLING
            ? 'max-sm:[&>button]:basis-[38%]'
            : 'max-sm:[&>button]:basis-[30%]',
      )}
    >
      <span id={danger} hidden>
        {t('answer.dangerousShort')}
      </span>
      {shown.map((move, at) => {
        const quiet = refuses(move) || move.does === 'send_back' || move.effect === 'skip';
        const nothing =
          (move.key === 'choose' && inputs.picked.length === 0) ||
          (takes(move, 'text') !== undefined && inputs.text.trim() === '');
        return (
          <Button
            key={move.key}
            data-move={move.key}
            aria-describedby={move.dangerous ? danger : undefined}
            tone={move.dangerous ? 'danger' : at === 0 && !quiet ? 'accent' : 'plain'}
            className="whitespace-normal! py-1.5!"
            disabled={blocked || nothing}
            busy={sending && at === 0}
            onClick={() => onPick(move)}
          >
            {move.dangerous ? <TriangleAlert aria-hidden="true" /> : null}
            <AgentLine text={moveName(t, question, move)} />
          </Button>
        );
      })}
      {rare.length > 0 ? (
        <MenuButton
          label={t('answer.more')}
          disabled={blocked}
          className={buttonLook({ size: 'icon' })}
          menu={(props) => (
            <Menu {...props} label={t('answer.more')} side="top" align="end">
              {rare.map((move) => (
                <MenuItem key={move.key} onSelect={() => onPick(move)}>
                  <AgentLine text={moveName(t, question, move)} />
                </MenuItem>
              ))}
            </Menu>
          )}
        >
          <Ellipsis />
        </MenuButton>
      ) : null}
    </div>
  );
}
