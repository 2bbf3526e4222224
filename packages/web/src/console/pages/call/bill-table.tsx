import type { JSX } from 'preact';
import { Icon } from '../../components/icon.tsx';
import { billOf, exact } from './bill.ts';
import type { CallDetail } from './documents.ts';

/** The bill line by line. @param signed the amount in the signed receipt, USDC; null while it is not there */
export function BillTable({
  call,
  signed,
}: {
  readonly call: CallDetail;
  readonly signed: string | null;
}): JSX.Element {
  return (
    <section class="part" aria-labelledby="bill">
      <h2 id="bill">Bill</h2>
      {call.billing === null ? <NoBill call={call} /> : <Lines billing={call.billing} signed={signed} />}
    </section>
  );
}

function NoBill({ call }: { readonly call: CallDetail }): JSX.Element {
  return (
    <p class="fine">
      {call.receipt_id === null
        ? 'Nothing was charged: the call was not answered.'
        : 'The lines of this bill are not known any more. The charged sum stands in the receipt.'}
    </p>
  );
}

function Lines({
  billing,
  signed,
}: {
  readonly billing: NonNullable<CallDetail['billing']>;
  readonly signed: string | null;
}): JSX.Element {
  const { lines, charge, paidBack, fee } = billOf(billing);
  const agrees = signed === null ? null : sameAmount(signed, charge);
  return (
    <>
      <table class="sheet bill" aria-label="Bill, in USDC">
        <tbody>
          {lines.map(({ title, about, amount }, at) => (
            <tr key={`${title} ${at}`}>
              <th scope="row">
                {title} <small>{about}</small>
              </th>
              <td class="end">{exact(amount)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">
              Charged <small>{PAYS[billing.account] ?? `to ${billing.account}`}</small>
            </th>
            <td class="end">{exact(charge)}</td>
          </tr>
          {paidBack > 0n && (
            <tr>
              <th scope="row">
                Paid back to you <small>{billing.share.percent} % of the saving, as a member</small>
              </th>
              <td class="end">{exact(-paidBack)}</td>
            </tr>
          )}
        </tfoot>
      </table>
      <p class="fine">
        In USDC.{' '}
        {billing.usage.counted_by === 'provider'
          ? 'The provider counted the tokens.'
          : 'The provider gave no count that can be billed, so the service counted the tokens.'}{' '}
        Tokens are billed at the provider’s price. The fee is{' '}
        {fee === 0n ? 'nothing here: it is' : `${exact(fee)}:`} the service’s part of what compression saves.
      </p>
      {agrees !== null && (
        <p class="answer" data-state={agrees ? 'pass' : 'fail'}>
          <Icon name={agrees ? 'done' : 'close'} />
          {agrees
            ? 'The lines add up to the amount in the signed receipt.'
            : `The receipt says ${signed} USDC, which is not what these lines add up to.`}
        </p>
      )}
    </>
  );
}

const PAYS: Readonly<Record<string, string>> = {
  api_key: 'to the balance of the API key',
  did: 'to the balance of the DID',
  x402: 'paid by x402',
  development: 'in development, without money',
};

/** Whether decimal USDC is an amount in millionths of a nano-USDC. */
function sameAmount(usdc: string, amount: bigint): boolean {
  const [whole = '', fraction = ''] = usdc.split('.');
  return /^\d+$/.test(whole) && BigInt(whole + fraction.padEnd(15, '0')) === amount;
}
