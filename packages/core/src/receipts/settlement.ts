import type { Payee } from '../trust/authority.ts';
import { type Check, check, failed, unchecked } from './family.ts';
import { DECIMAL, type NamedSettlement } from './named-settlement.ts';

/** A transaction as the caller read it from a node of the chain, which is trusted for the logs. */
export interface SettlementTransaction {
  readonly chainId: number;
  /** `0x` and 64 hex. */
  readonly txHash: string;
  readonly blockHeight: number;
  /** Transfers of ERC-20 tokens; none if the transaction was reverted. */
  readonly transfers: readonly {
    /** The token's contract: `0x` and 40 hex in any case, like the other addresses. */
    readonly token: string;
    readonly from: string;
    readonly to: string;
    /** Amount in the token's base units. */
    readonly amount: bigint;
  }[];
}

const NAME = 'settlement_transaction';

/**
 * Judges whether the transaction that a receipt names paid the stated amount to one of the service's payees.
 * @param transaction null: the chain has no such transaction; undefined: the chain was not asked
 */
export function checkSettlement(
  { chainId, asset, tx, amount, payer }: NamedSettlement,
  transaction: SettlementTransaction | null | undefined,
  payees: readonly Payee[],
): Check {
  if (transaction === undefined) return unchecked(NAME, `The chain was not asked whether ${tx} has paid.`);
  if (chainId === null) return unchecked(NAME, 'The receipt names no chain that could be asked.');
  if (transaction === null) return failed(NAME, `Chain ${chainId} has no transaction ${tx}.`);
  if (transaction.txHash.toLowerCase() !== tx || transaction.chainId !== chainId) {
    return failed(NAME, `The transaction is ${transaction.txHash} of chain ${transaction.chainId}.`);
  }
  const known = payees.filter((payee) => payee.chain_id === chainId && payee.asset === asset);
  if (known.length === 0) {
    return unchecked(NAME, `The given trust does not say who is paid in ${asset} on chain ${chainId}.`);
  }
  if (amount === null) return unchecked(NAME, 'The receipt does not say how much was paid.');
  const paid = known.find((payee) => isPaid(payee, transaction, { amount, payer }));
  const from = payer === null ? '' : ` from ${payer}`;
  return check(
    NAME,
    paid !== undefined,
    `Block ${transaction.blockHeight} of chain ${chainId} has it: ${amount} ${asset}${from} to ${paid?.address}.`,
    `It did not pay ${amount} ${asset}${from} to ${known.map(({ address }) => address).join(' or ')}.`,
  );
}

function isPaid(
  { token, address, decimals }: Payee,
  { transfers }: SettlementTransaction,
  { amount, payer }: { readonly amount: string; readonly payer: string | null },
): boolean {
  const units = baseUnits(amount, decimals);
  const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
  return transfers.some(
    (one) =>
      same(one.token, token) &&
      same(one.to, address) &&
      (payer === null || same(one.from, payer)) &&
      one.amount === units,
  );
}

/** The amount in base units; null for an amount that is finer than the token. */
function baseUnits(text: string, decimals: number): bigint | null {
  const [, whole = '', fraction = ''] = DECIMAL.exec(text) ?? [];
  const digits = fraction.replace(/0+$/, '');
  return digits.length > decimals ? null : BigInt(whole + digits.padEnd(decimals, '0'));
}
