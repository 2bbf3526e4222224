import { signal } from '@preact/signals';

/** The dialog of the frame that is open. */
export const open = signal<'palette' | 'help' | 'sign-in' | null>(null);

export const close = (): void => {
  open.value = null;
};
