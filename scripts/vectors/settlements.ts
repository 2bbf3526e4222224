import type { AnchorAuthority, JsonObject, Payee } from '../../packages/core/src/index.ts';
import { authority, type SettlementCase, type SettlementFacts } from './anchor-base.ts';
import { casesOf } from './cases.ts';
import { withMember } from './change.ts';
import { minted } from './envelope-base.ts';
import { signers } from './keys.ts';
import { emitted, facts as profileFacts } from './profile-base.ts';
import { signByReference, signEnvelope } from './sign.ts';

const CHECK = 'settlement_transaction';
const TX = `0x${'ab'.repeat(32)}`;
const PAYER = `0x${'0a'.repeat(20)}`;
const AMOUNT = '0.0008';

/** The account that the vectors' service is paid to. */
export const payee: Payee = {
  chain_id: 8453,
  asset: 'USDC',
  token: `0x${'Cc'.repeat(20)}`,
  decimals: 6,
  address: `0x${'Dd'.repeat(20)}`,
};
const paid = {
  token: payee.token.toLowerCase(),
  from: PAYER,
  to: payee.address.toLowerCase(),
  amount: '800',
};
const settlement: SettlementFacts = {
  chain_id: 8453,
  tx_hash: TX,
  block_height: 25_000_000,
  transfers: [{ ...paid, amount: '1' }, paid],
};
const paying = (...payees: readonly Payee[]): AnchorAuthority => ({ ...authority, payees });

/** Cases of a receipt that names the transaction that paid for it: the check settlement_transaction. */
export async function settlementCases(): Promise<SettlementCase[]> {
  return [
    ...(await heldCases()),
    ...(await contradictedCases()),
    ...(await openCases()),
    ...(await silentCases()),
  ];
}

/** An envelope whose settlement has these members. */
async function envelope(changes: JsonObject = {}): Promise<JsonObject> {
  const named = { chain: 'eip155:8453', asset: 'USDC', tx: TX, amount: AMOUNT, payer: PAYER, ...changes };
  return signEnvelope(withMember(await minted(), 'settlement', named), signers.service);
}

/** A standard receipt whose settlement_reference has these members. */
async function standard(changes: JsonObject = {}): Promise<JsonObject> {
  const { rail, chain_id, asset } = profileFacts.settlement;
  const named = { rail, chain_id, asset, status: 'confirmed', tx: TX, amount: AMOUNT, ...changes };
  return signByReference(
    withMember(await emitted('standard'), 'settlement_reference', named),
    signers.service,
  );
}

interface Given {
  readonly settlement?: SettlementFacts | null;
  readonly authority?: AnchorAuthority;
}

const isEnvelope = (receipt: JsonObject): boolean => receipt['signatures'] !== undefined;

/** Checks of these receipts that are null in every case. */
const nullsOf = (receipt: JsonObject): string[] =>
  isEnvelope(receipt) ? ['anchor', 'signature_requester', 'signature_operator'] : ['anchor'];

/** A case that is judged by a trust with the payee, unless it says otherwise. */
function settled(
  verdict: true | false | null | undefined,
  name: string,
  comment: string,
  receipt: JsonObject,
  given: Given = { settlement },
): SettlementCase {
  const { accepts, refuses } = casesOf(isEnvelope(receipt) ? 'envelope' : 'profile');
  const nulls = [...nullsOf(receipt), ...(verdict === null ? [CHECK] : [])];
  const judged =
    verdict === false
      ? refuses(name, comment, receipt, [CHECK], { nulls })
      : accepts(name, comment, receipt, { nulls });
  return { ...judged, authority: paying(payee), ...given };
}

async function heldCases(): Promise<SettlementCase[]> {
  const shouted = { ...settlement, tx_hash: `0x${'AB'.repeat(32)}` };
  return [
    settled(true, 'envelope', 'One of its transfers is the payment.', await envelope()),
    settled(true, 'standard', 'It names no payer.', await standard()),
    settled(true, 'amount with zeros behind', 'The same amount.', await envelope({ amount: '0.000800000' })),
    settled(
      true,
      'hash in capitals, of the chain',
      'Hashes are compared without regard to case.',
      await envelope(),
      {
        settlement: shouted,
      },
    ),
    settled(
      true,
      'hash in capitals, in the receipt',
      'Hashes are compared without regard to case.',
      await envelope({ tx: shouted.tx_hash }),
    ),
    settled(true, 'an earlier payee', 'Any of the payees may have been paid.', await envelope(), {
      settlement,
      authority: paying({ ...payee, address: PAYER }, payee),
    }),
  ];
}

async function contradictedCases(): Promise<SettlementCase[]> {
  const receipt = await envelope();
  const moved = (changes: Partial<typeof paid>): SettlementFacts => ({
    ...settlement,
    transfers: [{ ...paid, ...changes }],
  });
  const wrong = (name: string, comment: string, given: SettlementFacts | null): SettlementCase =>
    settled(false, name, comment, receipt, { settlement: given });
  return [
    wrong('no such transaction', 'The chain was asked and has none.', null),
    wrong('another transaction', 'It is not the one that is named.', {
      ...settlement,
      tx_hash: `0x${'cd'.repeat(32)}`,
    }),
    wrong('another chain', 'The same hash elsewhere.', { ...settlement, chain_id: 1 }),
    wrong('no transfer', 'A reverted transaction has none.', { ...settlement, transfers: [] }),
    wrong('another amount', 'One base unit too many.', moved({ amount: '801' })),
    wrong('another token', 'Worth something else.', moved({ token: PAYER })),
    wrong('to somebody else', 'Not to a payee.', moved({ to: PAYER })),
    wrong('from somebody else', 'The receipt names the payer.', moved({ from: payee.address })),
    settled(
      false,
      'a payer that is no account',
      'No transfer can be from it.',
      await envelope({ payer: 'did:key:z6Mk' }),
    ),
    settled(false, 'a payer that is no text', 'No transfer can be from it.', await envelope({ payer: 10 })),
    settled(
      false,
      'finer than the token',
      'No transfer can have moved it.',
      await envelope({ amount: '0.0008001' }),
    ),
  ];
}

async function openCases(): Promise<SettlementCase[]> {
  const receipt = await envelope();
  const open = (name: string, comment: string, document: JsonObject, given?: Given): SettlementCase =>
    settled(null, name, comment, document, given);
  return [
    open('the chain was not asked', 'Nothing is known about the payment.', receipt, {}),
    open('no payees', 'The trust does not say who is paid.', receipt, { settlement, authority }),
    open('payees of another chain', 'The trust does not say who is paid there.', receipt, {
      settlement,
      authority: paying({ ...payee, chain_id: 1 }),
    }),
    open('payees in another asset', 'The trust does not say who is paid in it.', receipt, {
      settlement,
      authority: paying({ ...payee, asset: 'EURC' }),
    }),
    open('no chain of CAIP-2', 'It can’t be asked.', await envelope({ chain: 'base' })),
    open('no chain of CAIP-2, no transaction', 'It can’t be asked.', await envelope({ chain: 'base' }), {
      settlement: null,
    }),
    open('no amount', 'The receipt does not say how much.', await envelope({ amount: 'some' })),
  ];
}

/** Receipts that name no payment: they have no such check, whatever the chain says. */
async function silentCases(): Promise<SettlementCase[]> {
  const silent = (name: string, comment: string, receipt: JsonObject): SettlementCase =>
    settled(undefined, name, comment, receipt, { settlement: null });
  return [
    silent('not named', 'Nothing to check.', await standard({ status: 'none', tx: null })),
    silent('declared', 'The caller’s word was not checked.', await standard({ status: 'declared' })),
    silent('no EVM transaction', 'Another kind of reference.', await envelope({ tx: 'settled-by-invoice' })),
    silent(
      '0X for 0x',
      'The hash of an EVM transaction begins with 0x.',
      await envelope({ tx: `0X${TX.slice(2)}` }),
    ),
    silent('nano', 'It has no room for it.', await emitted('nano')),
  ];
}
