import { type KeyboardEvent, type MouseEvent, useEffect, useId, useState } from 'react';
import { useLocation, useRouter } from 'wouter';
import { useSession } from '../session/session.js';
import { useSubscriptions } from '../subscriptions/use-subscriptions.js';
import { type Command, commandsOf } from './commands.js';
import type { Opener } from './shortcuts.js';
import { usePlaces } from './use-places.js';

/** One field that finds pages, subscriptions, events and devices. */
export function CommandPalette({ dialog, openings }: Pick<Opener, 'dialog' | 'openings'>) {
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Search"
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
  const { base } = useRouter();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const commands = useCommands(text);
  const optionId = (index: number): string => `${listId}-${String(index)}`;
  useInSight(optionId(chosen));

  /** In a tab of its own as a link would be: with a key held, or by the middle button. */
  function run({ href }: Command, event: KeyboardEvent | MouseEvent): void {
    const isApart = event.ctrlKey || event.metaKey || event.type === 'auxclick';
    close();
    if (isApart) open(href.startsWith('~') ? href.slice(1) : base + href);
    else navigate(href);
  }

  function press(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const command = commands[chosen];
    if (step !== undefined && commands.length > 0) {
      event.preventDefault();
      setChosen((chosen + step + commands.length) % commands.length);
    } else if (event.key === 'Enter' && command) run(command, event);
  }

  return (
    <>
      <input
        type="search"
        role="combobox"
        aria-label="Page, subscription, event id, device or code"
        placeholder="Page, event id, device, code or driverId:driver-46"
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
            onClick={(event) => run(command, event)}
            onAuxClick={(event) => run(command, event)}
          >
            {command.title}
          </li>
        ))}
      </ul>
    </>
  );
}

function useCommands(text: string): readonly Command[] {
  const { all } = usePlaces();
  const { info } = useSession();
  return commandsOf(text, all, useSubscriptions().items, info);
}

/** The keyboard chooses what may be out of sight. */
function useInSight(id: string): void {
  useEffect(() => document.getElementById(id)?.scrollIntoView({ block: 'nearest' }), [id]);
}
