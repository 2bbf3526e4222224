import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** A dialog that keeps the focus until it is closed, by Escape, its button, or a click beside it, and then gives it back. */
export function Dialog({
  title,
  close,
  children,
  bare = false,
  wide = false,
}: {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
  /** Whether the title is only its label, and no button closes it. */
  readonly bare?: boolean;
  /** For a form with two columns. */
  readonly wide?: boolean;
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    // Browsers give the focus back where a dialog is closed, and not where it is taken out of the page.
    return () => queueMicrotask(() => opener instanceof HTMLElement && opener.focus({ preventScroll: true }));
  }, []);
  return (
    <dialog
      ref={dialog}
      class={bare ? 'bare' : wide ? 'wide' : ''}
      aria-label={title}
      onClose={close}
      onMouseDown={(event) => event.target === dialog.current && close()}
    >
      <div class="inside">
        {!bare && (
          <header>
            <h2>{title}</h2>
            <button type="button" class="quiet" aria-label="Close" onClick={close}>
              <Icon name="close" />
            </button>
          </header>
        )}
        {children}
      </div>
    </dialog>
  );
}
