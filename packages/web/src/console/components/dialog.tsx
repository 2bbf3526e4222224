import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** Gives an element the focus; where it is gone or hidden by now, the button of the menu that it stood in, or else the page. */
function giveBack(to: HTMLElement): void {
  to.focus({ preventScroll: true });
  if (to === document.body || document.activeElement === to) return;
  const instead = to.closest('.drawer') === null ? 'main' : '.menu';
  document.querySelector<HTMLElement>(instead)?.focus({ preventScroll: true });
}

/**
 * A dialog that keeps the focus until it is closed, by Escape, its button, or a click beside it, and then gives it back. One that
 * shows what is never shown again is closed by its buttons alone.
 */
export function Dialog({
  title,
  close,
  children,
  bare = false,
  wide = false,
  onlyByButton = false,
}: {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
  /** Whether the title is only its label, and no button closes it. */
  readonly bare?: boolean;
  /** For a form with two columns. */
  readonly wide?: boolean;
  /** Whether neither Escape nor a click beside it closes it. */
  readonly onlyByButton?: boolean;
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    // Browsers give the focus back where a dialog is closed, and not where it is taken out of the page.
    return () => queueMicrotask(() => opener instanceof HTMLElement && giveBack(opener));
  }, []);
  return (
    <dialog
      ref={dialog}
      class={bare ? 'bare' : wide ? 'wide' : ''}
      aria-label={title}
      onCancel={(event) => onlyByButton && event.preventDefault()}
      // Browsers close a dialog at a second Escape whatever the page does.
      onClose={() => (onlyByButton ? dialog.current?.showModal() : close())}
      onMouseDown={(event) => event.target === dialog.current && !onlyByButton && close()}
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
