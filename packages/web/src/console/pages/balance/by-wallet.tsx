import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiProblem, api } from '../../api.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { OtherProblem, useAction } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Money } from '../../components/money.tsx';
import { Snippet } from '../../components/snippet.tsx';
import { Problem } from '../../components/states.tsx';
import { networkName, transactionUrl } from '../../networks.ts';
import { AmountField, type WayProps } from './amount.tsx';
import { isOver, type SignedPayment, unsettled } from './unsettled.ts';
import { browserWallet, exactOf, type PaymentRequired, readRequired, signPayment } from './wallet.ts';

const PATH = '/v1/balance/topup';

/** The answer of `POST /v1/balance/topup`. */
interface Paid {
  readonly credited: { readonly usdc: string };
  readonly settlement: { readonly network: string; readonly tx: string | null };
}

interface Asked {
  readonly body: { readonly amount: string; readonly account: string };
  readonly required: PaymentRequired;
}

/** A payment by x402: the service asks for it, the wallet signs it, and the service submits it. */
export function ByWallet({ account, amount, setAmount, credited }: WayProps): JSX.Element {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [paid, setPaid] = useState<Paid | null>(null);
  const { busy, problem, run } = useAction();
  const ask = async (): Promise<void> => {
    const body = { amount: amount.trim(), account };
    try {
      await api(PATH, { method: 'POST', body });
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.payment === null) throw error;
      setAsked({ body, required: readRequired(error.payment) });
    }
  };
  if (paid !== null) return <Done of={paid} />;
  if (asked !== null)
    return (
      <Pay
        {...asked}
        paid={(answer) => {
          setPaid(answer);
          credited();
        }}
      />
    );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void run(ask);
      }}
    >
      <AmountField problem={problem} amount={amount} setAmount={setAmount} />
      <OtherProblem of={problem} fields={['amount']} />
      <div class="choices end">
        <button type="submit" class="primary" disabled={busy || amount.trim() === ''}>
          Show how to pay
        </button>
      </div>
    </form>
  );
}

function Pay({ body, required, paid }: Asked & { readonly paid: (answer: Paid) => void }): JSX.Element {
  const { busy, problem, run } = useAction();
  const [declined, setDeclined] = useState('');
  const exact = exactOf(required);
  const wallet = browserWallet();
  const key = JSON.stringify([body.account, exact?.network, exact?.payTo, exact?.amount]);
  const sign = async (): Promise<SignedPayment | null> => {
    if (wallet === null || exact === null) return null;
    const now = Math.floor(Date.now() / 1_000);
    const until = now + exact.maxTimeoutSeconds;
    return signPayment(wallet, required, exact, now).then(
      (header) => ({ header, until, unanswered: false }),
      (error: unknown) => {
        setDeclined(messageOf(error));
        return null;
      },
    );
  };
  const pay = async (): Promise<void> => {
    setDeclined('');
    const signed = unsettled.get(key) ?? (await sign());
    if (signed === null) return;
    unsettled.set(key, signed);
    try {
      const headers = { 'payment-signature': signed.header };
      const answer = await api<Paid>(PATH, { method: 'POST', body, headers });
      unsettled.delete(key);
      paid(answer);
    } catch (error) {
      if (isOver(signed, error, Date.now() / 1_000)) unsettled.delete(key);
      else unsettled.set(key, { ...signed, unanswered: true });
      throw error;
    }
  };
  const isUnsettled = !busy && unsettled.has(key);
  return (
    <>
      {exact !== null && (
        <dl class="terms">
          <div>
            <dt>Exactly</dt>
            <dd>{body.amount} USDC</dd>
          </div>
          <div>
            <dt>To</dt>
            <dd class="id">
              <code>{exact.payTo}</code>
              <CopyButton text={exact.payTo} what="address" />
            </dd>
          </div>
          <div>
            <dt>On</dt>
            <dd>{networkName(exact.network)}</dd>
          </div>
        </dl>
      )}
      {wallet === null || exact === null ? (
        <p>
          This browser has no wallet. Send this request with a client of{' '}
          <a href="https://www.x402.org">x402</a>, such as <code>@x402/fetch</code>: the answer 402 says what
          to sign, and the client sends the request again with the signature.
        </p>
      ) : (
        <>
          <div class="choices">
            <button type="button" class="primary" disabled={busy} onClick={() => void run(pay)}>
              {busy
                ? 'Waiting for the wallet…'
                : isUnsettled
                  ? 'Send the same payment again'
                  : 'Pay with this browser’s wallet'}
            </button>
          </div>
          {declined !== '' && (
            <p class="wrong" role="alert">
              The wallet did not sign: {declined} Nothing was paid.
            </p>
          )}
          {problem !== null && <Problem of={problem} />}
          {isUnsettled && (
            <p role="status">
              A payment was signed, and the service has not said what became of it. The button sends the same
              one again, without another signature: it is taken only once.
            </p>
          )}
          <p class="fine">Or send this request with any client of x402:</p>
        </>
      )}
      <Snippet what="The request" text={requestOf(body)} />
    </>
  );
}

function Done({ of: { credited, settlement } }: { readonly of: Paid }): JSX.Element {
  const url = settlement.tx === null ? null : transactionUrl(settlement.network, settlement.tx);
  return (
    <p class="done" role="status">
      <Icon name="done" /> <Money of={credited.usdc} /> is in your account.{' '}
      {url === null ? <code>{settlement.tx}</code> : <a href={url}>See the transaction</a>}
    </p>
  );
}

function messageOf(error: unknown): string {
  const message = (error as { message?: unknown } | null)?.message;
  const text = typeof message === 'string' ? message.trim() : String(error);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function requestOf(body: Asked['body']): string {
  return `curl -i ${location.origin}${PATH} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}
