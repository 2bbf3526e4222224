import type { Check, Verification } from '@tallystick/core';
import { ApiProblem, api, apiText } from '../../api.ts';
import { type Loading, useLoad } from '../../load.ts';
import type { CallDetail } from './documents.ts';

/** Where the log has a receipt: on the chain, or waiting for it (`GET /v1/anchor/by-hash/{hash}`). */
export type Anchor =
  | { readonly anchor_ref: string; readonly batch_id: string; readonly eta_seconds: number }
  | {
      readonly anchor_ref: string;
      readonly network: string;
      readonly block_height: number;
      readonly tx_hash: string;
      readonly leaf_index: number;
      readonly tree_size: number;
      readonly merkle_root: string;
      readonly verified_at: string;
    };

/** A call's receipt, verified here. */
export interface Proof {
  /** JSON text, byte for byte. */
  readonly receipt: string;
  readonly verdict: Verification;
  /** The amount that it signs, decimal USDC. */
  readonly amount: string | null;
  /** Null where the receipt is not in the log. */
  readonly anchor: Anchor | null;
  /** The chain that the log posts to (EIP-155); null where there is none. */
  readonly chainId: number | null;
}

/** Fetches the receipt of a call and its anchor, and verifies them here, by the service's trust bundle. */
export function useProof(call: CallDetail | null): Loading<Proof> {
  const id = call?.receipt_id ?? null;
  return useLoad(id, async (signal) => {
    const [receipt, bundle, log] = await Promise.all([
      apiText(`/v1/receipt/${id}`, { signal }),
      apiText('/.well-known/trust.json', { signal }),
      api<{ readonly chain: { readonly chain_id: number } | null }>('/v1/log', { signal }),
    ]);
    const { judge, readReceipt, withCheck } = await import('../../judge.ts');
    const { members, hash } = readReceipt(receipt);
    const anchor = await anchorOf(hash, signal);
    const anchored = anchor !== null && 'merkle_root' in anchor ? anchor : null;
    const verdict = await judge(receipt, bundle, Date.now(), anchored);
    const { amount } = partOf(members, 'settlement');
    return {
      receipt,
      verdict: call === null ? verdict : withCheck(verdict, isOfRow(call, members)),
      amount: typeof amount === 'string' ? amount : null,
      anchor,
      chainId: log.chain?.chain_id ?? null,
    };
  });
}

async function anchorOf(hash: string, signal: AbortSignal): Promise<Anchor | null> {
  try {
    return await api<Anchor>(`/v1/anchor/by-hash/${hash}`, { signal });
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return null;
    throw error;
  }
}

/** Whether the receipt says of the call what the list says, which nobody signed. */
function isOfRow(call: CallDetail, receipt: Readonly<Record<string, unknown>>): Check {
  const facts = partOf(receipt, 'call');
  const differing = [
    ['id', receipt['receipt_id'], call.receipt_id],
    ['model', facts['model'], call.model],
    ['provider', facts['provider'], call.provider],
    ['tokens of the prompt', facts['prompt_tokens'], call.prompt_tokens],
    ['tokens of the answer', facts['completion_tokens'], call.completion_tokens],
    ['amount', Number(partOf(receipt, 'settlement')['amount']), Number(call.cost_usdc)],
  ].flatMap(([name, signed, shown]) => (signed === shown ? [] : [name]));
  return differing.length === 0
    ? { name: 'this call', ok: true, detail: 'The receipt says of this call what is shown here.' }
    : { name: 'this call', ok: false, detail: `The receipt says otherwise: ${differing.join(', ')}.` };
}

function partOf(members: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const part = members[name];
  return typeof part === 'object' && part !== null ? (part as Readonly<Record<string, unknown>>) : {};
}
