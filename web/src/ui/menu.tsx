import { DropdownMenu } from 'radix-ui';
import type { ReactNode, RefObject } from 'react';
import { cn } from '@/lib/cn';
import { setMenuButton } from '@/lib/focus';

const item =
  'flex cursor-pointer select-none items-center gap-2.5 rounded-sm px-2.5 py-1.5 -outline-offset-2 data-[highlighted]:bg-hover max-sm:py-2.5 [&_svg]:size-4 [&_svg]:text-muted';

export interface MenuProps {
  /** The button that opened the menu: the menu's anchor, which gets the focus back. */
  opener: RefObject<HTMLButtonElement | null>;
  onClose: () => void;
}

interface Props extends MenuProps {
  label: string;
  side?: 'top' | 'bottom' | 'right';
  align?: 'start' | 'end';
  children: ReactNode;
}

/** An open menu. The button is in another file, so that the first load does not include the menu library. */
export function Menu({ opener, onClose, label, side = 'bottom', align = 'start', children }: Props) {
  return (
    <DropdownMenu.Root open modal={false} onOpenChange={(open) => open || onClose()}>
      <DropdownMenu.Trigger asChild>
        <span aria-hidden="true" className="pointer-events-none absolute inset-0" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          ref={(menu) => {
            if (menu && opener.current) setMenuButton(menu, opener.current);
          }}
          aria-label={label}
          aria-labelledby={undefined}
          side={side}
          align={align}
          sideOffset={6}
          collisionPadding={8}
          onInteractOutside={(event) => {
            // The button closes the menu itself. If the menu closed here first, the same click would open it again.
            if (opener.current?.contains(event.target as Node)) event.preventDefault();
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            opener.current?.focus();
          }}
          className="appear z-50 max-h-[80dvh] min-w-52 overflow-y-auto rounded-lg border bg-surface p-1.5 shadow-float"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export function MenuItem({ onSelect, children }: { onSelect: () => void; children: ReactNode }) {
  return (
    <DropdownMenu.Item className={item} onSelect={onSelect}>
      {children}
    </DropdownMenu.Item>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

export function MenuChoice<T extends string>({ label, value, options, onChange }: ChoiceProps<T>) {
  return (
    <>
      <DropdownMenu.Label className="px-2.5 pt-2 pb-1 text-muted text-xs">{label}</DropdownMenu.Label>
      <DropdownMenu.RadioGroup value={value} onValueChange={(next) => onChange(next as T)}>
        {options.map(([name, text]) => (
          <DropdownMenu.RadioItem key={name} value={name} className={cn(item, 'data-[state=checked]:font-medium')}>
            <span className="grid size-4 place-items-center">
              <DropdownMenu.ItemIndicator>
                <span className="block size-1.5 rounded-full bg-accent" />
              </DropdownMenu.ItemIndicator>
            </span>
            {text}
          </DropdownMenu.RadioItem>
        ))}
      </DropdownMenu.RadioGroup>
    </>
  );
}

export function MenuLine() {
  return <DropdownMenu.Separator className="my-1.5 h-px bg-line" />;
}
