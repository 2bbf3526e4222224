import type { JSX } from 'preact';
import { Dialog } from '../components/dialog.tsx';
import { close } from './open.ts';

const KEYS = [
  ['Ctrl K or ⌘ K', 'Go to a page, or do something'],
  ['j and k', 'Next and previous row of a list'],
  ['Enter', 'Open the row'],
  ['/', 'Add a filter'],
  ['g then a, r or l', 'Go to the calls, the receipts or the log'],
  ['t', 'Switch between light and dark'],
  ['?', 'These shortcuts'],
  ['Esc', 'Close what is open'],
] as const;

/** Lists the keys. */
export function Help(): JSX.Element {
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      <dl class="keys">
        {KEYS.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
