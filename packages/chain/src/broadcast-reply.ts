import type { Broadcast } from './chain.ts';

type Kind = Exclude<Broadcast['kind'], 'accepted' | 'refused'>;

/**
 * Texts by which nodes refuse a raw transaction, by kind: Geth and those that kept its words (Reth,
 * op-geth, Nitro, Anvil), Erigon, Nethermind, Besu, ZKsync. Only the texts are matched, because the codes differ:
 * -32004 is "insufficient funds" to Besu and "method not supported" in EIP-1474, and most answer -32000 to all.
 */
const WORDINGS: readonly (readonly [Kind, RegExp])[] = [
  ['known', /already known|known transaction|already imported|alreadyknown|existing tx with same hash/],
  ['nonce_used', /nonce too low|nonce is too low|oldnonce|ownnoncealreadyused/],
  [
    'insufficient_funds',
    /insufficient funds|insufficientfunds|upfront cost exceeds|not enough balance|insufficient balance/,
  ],
  [
    'underpriced',
    /underpriced|could not replace existing tx|replaced by transaction with higher tip|replacementnotallowed|fee ?too ?low|less than block base fee|gas price (?:is )?(?:too low|below)|max fee per gas (?:is )?(?:too low|below)/,
  ],
];

/** Tells why a node refused a transaction. @param reason the node's text */
export function readRefusal(reason: string): Broadcast {
  const text = reason.toLowerCase();
  const kind = WORDINGS.find(([, pattern]) => pattern.test(text))?.[0];
  return kind === undefined ? { kind: 'refused', reason } : { kind };
}
