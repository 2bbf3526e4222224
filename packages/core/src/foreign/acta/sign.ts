import type { Signer } from '../../ed25519/signer.ts';
import { utf8 } from '../../encoding/bytes.ts';
import { toHex } from '../../encoding/hex.ts';
import { canonicalize } from '../../json/canonical.ts';
import type { JsonObject } from '../../json/types.ts';
import { formatTimestamp } from '../../time.ts';
import { linksTo, sequenceOf } from './forms.ts';

/** A decision on a call of a tool. */
export interface ActaDecision {
  readonly decision: 'allow' | 'deny';
  readonly tool: string;
  /** Names the policy; null if there was none. */
  readonly policyId: string | null;
  /** Further facts, which are signed too. */
  readonly context: JsonObject;
}

/**
 * Signs a decision as an Acta receipt: the v2 envelope of agent-governance-testvectors, whose `prev_hash` is the SHA-256 of
 * the JCS form of the whole receipt before.
 * @param before the receipt before; null for the first, which has the number 1 and no `prev_hash`
 * @param now Unix milliseconds
 * @returns the JCS text of the receipt
 */
export async function signActa(
  { decision, tool, policyId, context }: ActaDecision,
  before: JsonObject | null,
  { signer, now }: { readonly signer: Signer; readonly now: number },
): Promise<string> {
  const payload: JsonObject = {
    type: 'scopeblind.receipt.v1',
    decision,
    action: { kind: 'tool', target: tool },
    policy_id: policyId,
    sequence: (before === null ? 0 : (sequenceOf(before) ?? 0)) + 1,
    ...(before !== null && { prev_hash: linksTo(before, 'the whole receipt')[0] }),
    timestamp: formatTimestamp(now),
    context,
  };
  const signature = toHex(await signer.sign(utf8(canonicalize(payload))));
  return canonicalize({ payload, pubkey: toHex(signer.publicKey), signature });
}
