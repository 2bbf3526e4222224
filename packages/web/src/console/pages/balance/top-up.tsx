import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Empty, Problem, Skeleton } from '../../components/states.tsx';
import { useLoad } from '../../load.ts';
import { networkName } from '../../networks.ts';
import { ByTransfer } from './by-transfer.tsx';
import { ByWallet } from './by-wallet.tsx';
import type { Payable } from './documents.ts';

/** How money comes into the account. @param account its name in the ledger */
export function TopUp({
  account,
  close,
  credited,
}: {
  readonly account: string;
  readonly close: () => void;
  readonly credited: () => void;
}): JSX.Element {
  const { value, problem, reload } = useLoad('payable', (signal) =>
    api<Payable>('/.well-known/x402', { signal }),
  );
  const [way, setWay] = useState<'transfer' | 'wallet'>('transfer');
  const [amount, setAmount] = useState('');
  const props = { account: account.replace(/^caller:/, ''), amount, setAmount, credited };
  return (
    <Dialog title="Top up" close={close} wide>
      {problem !== null ? (
        <Problem of={problem} retry={reload} />
      ) : value === null ? (
        <Skeleton rows={4} />
      ) : value.network === null ? (
        <Empty title="This service takes no payments">
          <p>
            Ask its operator, who credits an account with <code>tally ledger credit</code>.
          </p>
        </Empty>
      ) : (
        <>
          <div class="ways" role="group" aria-label="Way to pay">
            {(['transfer', 'wallet'] as const).map((name) => (
              <button type="button" key={name} aria-pressed={way === name} onClick={() => setWay(name)}>
                {name === 'transfer' ? 'By a transfer' : 'By x402'}
              </button>
            ))}
          </div>
          <p class="fine">Amounts are USDC on {networkName(value.network)}.</p>
          {way === 'transfer' ? <ByTransfer {...props} /> : <ByWallet {...props} />}
        </>
      )}
    </Dialog>
  );
}
