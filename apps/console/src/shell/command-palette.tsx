import { type KeyboardEvent, type RefObject, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { useSubscriptions } from '../subscriptions/use-subscriptions.js';
import { type Command, commandsOf } from './commands.js';
import { usePlaces } from './use-places.js';

interface CommandPaletteProps {
  readonly dialog: RefObject<HTMLDialogElement | null>;
}

/** One field that finds pages, subscriptions, events and devices. */
export function CommandPalette({ dialog }: CommandPaletteProps) {
  const [openings, setOpenings] = useState(0);
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Search"
      onToggle={(event) => {
        if (event.newState === 'open') setOpenings(openings + 1);
      }}
      onClick={(event) => {
        // The backdrop belongs to the dialog.
        if (event.target === event.currentTarget) event.currentTarget.close();
      }}
    >
      {openings > 0 && <Commands key={openings} close={() => dialog.current?.close()} />}
    </dialog>
  );
}

/** A combobox (WAI-ARIA): the focus stays in the field, the arrow keys choose. */
function Commands({ close }: { readonly close: () => void }) {
  const listId = useId();
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const { all } = usePlaces();
  const commands = commandsOf(text, all, useSubscriptions());
  const optionId = (index: number): string => `${listId}-${String(index)}`;

  function run({ href }: Command): void {
    close();
    navigate(href);
  }

  function press(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const command = commands[chosen];
    if (step !== undefined && commands.length > 0) {
      event.preventDefault();
      setChosen((chosen + step + commands.length) % commands.length);
    } else if (event.key === 'Enter' && command) run(command);
  }

  return (
    <>
      <input
        type="search"
        role="combobox"
        aria-label="Page, subscription, event id, device or code"
        placeholder="Page, event id, device, code or driverId:d-46"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={commands.length > 0 ? optionId(chosen) : undefined}
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={press}
      />
      <ul id={listId} role="listbox" aria-label="Results" className="plain">
        {commands.map((command, index) => (
          <li
            key={command.href}
            id={optionId(index)}
            role="option"
            aria-selected={index === chosen}
            className="text"
            onPointerMove={() => setChosen(index)}
            onClick={() => run(command)}
          >
            {command.title}
          </li>
        ))}
      </ul>
    </>
  );
}
