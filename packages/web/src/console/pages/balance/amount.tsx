import type { JSX } from 'preact';
import { TextField } from '../../components/form.tsx';

/** What each way to top up is given. */
export interface WayProps {
  /** Id of a key, or a DID. */
  readonly account: string;
  /** As typed. */
  readonly amount: string;
  readonly setAmount: (amount: string) => void;
  /** Called once the amount is in the account. */
  readonly credited: () => void;
}

/** The amount of a top-up. */
export function AmountField({
  problem,
  amount,
  setAmount,
}: Pick<WayProps, 'amount' | 'setAmount'> & Pick<Parameters<typeof TextField>[0], 'problem'>): JSX.Element {
  return (
    <TextField
      name="amount"
      label="Amount, in USDC"
      mode="decimal"
      placeholder="25"
      problem={problem}
      value={amount}
      onValue={setAmount}
      autoFocus
    />
  );
}
