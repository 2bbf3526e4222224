import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Verdict } from '../../components/verdict.tsx';

/** Verifies the receipt of a call here, when it is asked to. */
export function Proof({ receiptId }: { readonly receiptId: string }): JSX.Element {
  const open = useSignal(false);
  const set = (to: boolean) => (): void => {
    open.value = to;
  };
  return (
    <>
      <button type="button" class="pick" onClick={set(true)}>
        Verify
      </button>
      {open.value && (
        <Dialog title="Receipt" close={set(false)}>
          <p class="id">
            <code>{receiptId}</code>
            <CopyButton text={receiptId} what="receipt id" />
          </p>
          <Verdict receiptId={receiptId} />
          <a href={`/receipts#${receiptId}`}>The whole receipt, and where it is anchored</a>
        </Dialog>
      )}
    </>
  );
}
