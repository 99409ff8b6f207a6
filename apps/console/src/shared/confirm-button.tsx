import { type ReactNode, useRef } from 'react';

interface ConfirmButtonProps {
  readonly label: string;
  /** The name of the action; it is also the title of the dialog. */
  readonly action: string;
  /** What it means. */
  readonly children: ReactNode;
  readonly isDangerous?: boolean;
  readonly disabled: boolean;
  readonly onConfirm: () => void;
}

/** Says what will happen before it does. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { label, action, children, isDangerous = false, disabled, onConfirm } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const close = () => dialog.current?.close();
  return (
    <>
      <button
        type="button"
        className={isDangerous ? 'danger' : ''}
        disabled={disabled}
        onClick={() => {
          dialog.current?.showModal();
          // The browser would take the first one, so that Enter twice deletes.
          cancel.current?.focus();
        }}
      >
        {label}
      </button>
      <dialog ref={dialog} aria-label={action}>
        <h2>{action}</h2>
        <p>{children}</p>
        {/* No form: it may stand in one. */}
        <div className="actions">
          <button
            type="button"
            className={isDangerous ? 'danger' : 'primary'}
            onClick={() => {
              close();
              onConfirm();
            }}
          >
            {action}
          </button>
          <button ref={cancel} type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </dialog>
    </>
  );
}
