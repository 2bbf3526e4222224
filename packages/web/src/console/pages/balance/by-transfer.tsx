import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { OtherProblem, useAction } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { QrCode } from '../../components/qr-code.tsx';
import { Time } from '../../components/time.tsx';
import { networkName, transferUri } from '../../networks.ts';
import { AmountField, type WayProps } from './amount.tsx';
import type { Quote } from './documents.ts';

/** How often the order is read while its transfer is awaited, in milliseconds. */
const LOOK_AGAIN_MS = 3_000;

/** A transfer of an exact amount, by which the service knows whose it is. */
export function ByTransfer({ account, amount, setAmount, credited }: WayProps): JSX.Element {
  const [quote, setQuote] = useState<Quote | null>(null);
  const { busy, problem, run } = useAction();
  const ask = async (): Promise<void> => {
    setQuote(await api<Quote>('/v1/balance/quote', { method: 'POST', body: { amount: amount.trim() } }));
  };
  if (quote !== null) return <Instructions of={quote} credited={credited} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void run(ask);
      }}
    >
      <AmountField problem={problem} amount={amount} setAmount={setAmount} />
      <p class="fine">
        You are told an exact amount, at most 0.05 USDC above this one. A transfer of exactly that amount is
        yours. A wallet that can append a memo needs no quote: it transfers any amount with the memo{' '}
        <code>account={account}</code>.
      </p>
      <OtherProblem of={problem} fields={['amount']} />
      <div class="choices end">
        <button type="submit" class="primary" disabled={busy || amount.trim() === ''}>
          Show how to pay
        </button>
      </div>
    </form>
  );
}

function Instructions({
  of: quote,
  credited,
}: {
  readonly of: Quote;
  readonly credited: () => void;
}): JSX.Element {
  const state = useOrder(quote.order_id, credited);
  if (state === 'done')
    return (
      <p class="done" role="status">
        <Icon name="done" /> The transfer is in your account.
      </p>
    );
  return (
    <div class="transfer">
      <QrCode text={transferUri(quote)} label={`QR code of a transfer of ${quote.amount_usdc} USDC`} />
      <dl class="terms">
        <div>
          <dt>Exactly</dt>
          <dd class="id">
            <b>{quote.amount_usdc} USDC</b>
            <CopyButton text={quote.amount_usdc} what="amount" />
          </dd>
        </div>
        <div>
          <dt>To</dt>
          <dd class="id">
            <code>{quote.pay_to}</code>
            <CopyButton text={quote.pay_to} what="address" />
          </dd>
        </div>
        <div>
          <dt>On</dt>
          <dd>{networkName(quote.network)}</dd>
        </div>
        <div>
          <dt>Token</dt>
          <dd class="id">
            <code>{quote.asset}</code>
            <CopyButton text={quote.asset} what="address of the token" />
          </dd>
        </div>
        <div>
          <dt>Before</dt>
          <dd>
            <Time at={quote.expires_at} />
          </dd>
        </div>
      </dl>
      <p class="fine" role="status">
        {state === 'expired'
          ? 'The time for this transfer is over. Close this and ask again; a transfer that comes later is sent back.'
          : `Waiting for the transfer, which counts after ${quote.confirmations} ${quote.confirmations === 1 ? 'block' : 'blocks'}. You can close this: it is credited all the same.`}
      </p>
    </div>
  );
}

/** What became of an order: `open` until it is paid. */
function useOrder(id: string, credited: () => void): string {
  const [state, setState] = useState('open');
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (state !== 'open') return;
    const aborter = new AbortController();
    const look = async (): Promise<void> => {
      try {
        const order = await api<{ state: string }>(`/v1/anchor/keys/orders/${id}`, {
          signal: aborter.signal,
        });
        setState(order.state);
        if (order.state === 'done') credited();
      } catch {
        // It is asked again in any case.
      } finally {
        setTurn(turn + 1);
      }
    };
    const timer = setTimeout(() => void look(), LOOK_AGAIN_MS);
    return () => {
      clearTimeout(timer);
      aborter.abort();
    };
  }, [id, state, turn]);
  return state;
}
