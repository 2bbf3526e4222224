import { fromHex, toHex } from '../encoding/hex.ts';
import type { Sha256 } from '../hash.ts';
import { findChange } from './find-change.ts';
import { addedFault, leftOut, type StreamFault } from './stream-fault.ts';

/**
 * What was changed between two heads, where the hashes do not lead from the one to the other.
 * @param options `begin` is the head that they lead from and how many receipts it counts; `target` the bytes of the head that
 * counts `count`; `strangers` are hashes of given receipts that are not in the list
 */
export function changeFault({
  begin,
  count,
  target,
  rest,
  strangers,
  digest,
}: {
  readonly begin: { readonly head: Uint8Array; readonly at: number };
  readonly count: number;
  readonly target: Uint8Array;
  readonly rest: readonly Uint8Array[];
  readonly strangers: readonly string[];
  readonly digest: Sha256;
}): StreamFault {
  const change = findChange({
    begin: begin.head,
    target,
    length: count - begin.at,
    hashes: rest,
    strangers: strangers.map((hash) => fromHex(hash, 32)),
    digest,
  });
  const where = `between ${begin.at} and ${count}`;
  if (change === null) {
    const detail = `The hashes ${where} do not lead to the head at ${count}: they are not the ones that it counts.`;
    return { kind: 'chain', index: count, sha256: null, detail };
  }
  const index = begin.at + change.offset + 1;
  const hash = toHex(change.hash);
  if (change.kind === 'left_out')
    return { ...leftOut(index, hash), detail: `${hash} is missing from the hashes at ${index}.` };
  if (change.kind === 'added') return { ...addedFault(hash), index };
  return {
    kind: 'moved',
    index,
    sha256: hash,
    detail: `${hash} stands at another place than ${index}, where the head at ${count} has it.`,
  };
}
