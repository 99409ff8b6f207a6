import { type ReactNode, useId, useRef } from 'react';

interface PopoverProps {
  readonly label: ReactNode;
  /** Beside the label, for those who do not see where the button stands. */
  readonly title?: string;
  /** Called with a function that closes it. */
  readonly children: (close: () => void) => ReactNode;
}

const MARGIN_PX = 8;

/** A button with a native popover below it: the browser closes it with Escape, and by a click elsewhere. */
export function Popover({ label, title, children }: PopoverProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);

  /** In its place before it is drawn: the event of the browser comes later. */
  function toggle(): void {
    if (!button.current || !panel.current) return;
    panel.current.togglePopover({ source: button.current });
    if (!panel.current.matches(':popover-open')) return;
    const { left, bottom } = button.current.getBoundingClientRect();
    const most = innerWidth - panel.current.offsetWidth - MARGIN_PX;
    panel.current.style.left = `${String(Math.max(MARGIN_PX, Math.min(left, most)))}px`;
    panel.current.style.top = `${String(bottom + 4)}px`;
    panel.current.style.maxHeight = `${String(innerHeight - bottom - 2 * MARGIN_PX)}px`;
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        popoverTarget={id}
        aria-label={title}
        className="opens"
        onClick={(event) => {
          event.preventDefault();
          toggle();
        }}
      >
        {label}
      </button>
      <div ref={panel} id={id} popover="auto" role="group" aria-label={title} className="popover">
        {children(() => panel.current?.hidePopover())}
      </div>
    </>
  );
}
