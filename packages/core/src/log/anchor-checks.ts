import type { Ed25519Engine } from '../ed25519/profile.ts';
import { equalBytes, utf8 } from '../encoding/bytes.ts';
import { fromHex, toHex } from '../encoding/hex.ts';
import { TallyError } from '../errors.ts';
import { type Sha256, sha256 } from '../hash.ts';
import { leafHash } from '../merkle/hash.ts';
import { verifyInclusion } from '../merkle/inclusion.ts';
import { orNull } from '../or-null.ts';
import { type Check, CLOCK_SKEW, check, failed, unchecked } from '../receipts/family.ts';
import { formatTimestamp } from '../time.ts';
import { type AnchorAuthority, isWithin, logsOf, postersOf, wasInUse } from '../trust/authority.ts';
import { type AnchoredResult, leafIndexOf } from './anchored.ts';
import { type Checkpoint, openCheckpoint, parseCheckpointText } from './checkpoint.ts';
import { parseNote } from './note.ts';
import { decodePosting, type PostedHead } from './posting.ts';

/** A transaction as the caller read it from a node of the chain, in a block that the caller takes for final. */
export interface AnchorTransaction {
  readonly chainId: number;
  /** `0x` and 64 hex. */
  readonly txHash: string;
  readonly blockHeight: number;
  /** Unix seconds, the block's own. */
  readonly blockTime: number;
  /** Address of the account that signed it: `0x` and 40 hex in any case. */
  readonly from: string;
  /** The calldata: `0x` hex. */
  readonly data: string;
}

/** Facts that are known when an anchor is checked. */
export interface AnchorFacts {
  /** 32 bytes. */
  readonly anchoredHash: Uint8Array;
  /** Time of the verdict, in Unix milliseconds. */
  readonly now: number;
  /** Time of issue that the receipt states, in Unix seconds. */
  readonly issuedAt: number;
  /** Transaction on the chain; null if the chain has none, undefined if the chain was not asked. */
  readonly transaction?: AnchorTransaction | null | undefined;
  /** The logs that the verifier knows, each with the account that posts its roots. */
  readonly anchors: readonly AnchorAuthority[];
  readonly engine: Ed25519Engine;
  /** Hashes the nodes of the path; in JavaScript when absent. */
  readonly sha256?: Sha256 | undefined;
}

export interface AnchorVerdict {
  readonly checks: readonly Check[];
  /** Unix milliseconds at which the chain proves that the receipt existed; undefined where nothing does. */
  readonly existedAt?: number | undefined;
  /** The note that was given, be it good or not. */
  readonly checkpoint?: string | undefined;
}

/**
 * Judges an anchored result: whether the path leads from the receipt to the root, whether the log signed this root, and
 * whether the account that posts for the log put it on the chain. If the result does not state the tree size, the
 * checkpoint and the transaction each give it.
 */
export async function checkAnchor(result: AnchoredResult, facts: AnchorFacts): Promise<AnchorVerdict> {
  const { transaction } = facts;
  const noted = notedHead(result);
  const posted = postedHead(transaction);
  const size = result.tree_size ?? noted?.size ?? posted?.size;
  const inclusion = inclusionCheck(result, facts, size);
  const onChain = transactionCheck(result, facts, noted, posted);
  return {
    checks: [inclusion, await checkpointCheck(result, facts, noted), onChain],
    existedAt: transaction && inclusion.ok && onChain.ok ? transaction.blockTime * 1000 : undefined,
    checkpoint: result.checkpoint,
  };
}

/** Reads the checkpoint of the note without trusting it; null if there is none or it can't be read. */
function notedHead({ checkpoint }: AnchoredResult): Checkpoint | null {
  return checkpoint === undefined ? null : orNull(() => parseCheckpointText(parseNote(checkpoint).text));
}

function postedHead(transaction: AnchorTransaction | null | undefined): PostedHead | null {
  return transaction && /^0x(?:[0-9a-f]{2})*$/.test(transaction.data)
    ? decodePosting(fromHex(transaction.data.slice(2)))
    : null;
}

function inclusionCheck(
  result: AnchoredResult,
  { anchoredHash, sha256: hash }: Pick<AnchorFacts, 'anchoredHash' | 'sha256'>,
  size: number | undefined,
): Check {
  const name = 'anchor';
  if (size === undefined) {
    return unchecked(name, 'It does not say how many leaves the root covers; its transaction does.');
  }
  const index = leafIndexOf(result);
  const included = verifyInclusion(
    {
      index,
      size,
      leafHash: leafHash(anchoredHash, hash),
      path: result.merkle_path.map(hashIn),
      root: hashIn(result.merkle_root),
    },
    hash,
  );
  return check(
    name,
    included,
    `The receipt is leaf ${index} of the ${size} leaves under ${result.merkle_root}.`,
    `The path does not lead from this receipt, as leaf ${index} of ${size}, to ${result.merkle_root}.`,
  );
}

const hashIn = (text: string): Uint8Array => fromHex(text.slice('sha256:'.length), 32);

async function checkpointCheck(
  result: AnchoredResult,
  { anchors, engine }: AnchorFacts,
  noted: Checkpoint | null,
): Promise<Check> {
  const name = 'anchor_checkpoint';
  const { checkpoint, merkle_root, tree_size } = result;
  if (checkpoint === undefined) return unchecked(name, 'No checkpoint was given.');
  if (noted === null) return failed(name, 'The checkpoint is not a signed note of a tree head.');
  const { origin, size, root } = noted;
  if (merkle_root !== `sha256:${toHex(root)}` || size !== (tree_size ?? size)) {
    return failed(name, 'The checkpoint and the anchored result are of different trees.');
  }
  let verdict = unchecked(name, `The given trust does not list the log ${origin}.`);
  for (const log of logsOf(anchors, origin)) {
    try {
      await openCheckpoint(checkpoint, log, engine);
      const within = isWithin(log, size);
      if (within === null) return unchecked(name, `${origin} has ended; nothing says with how many leaves.`);
      return check(
        name,
        within,
        `${origin} signed this root over ${size} leaves.`,
        `${origin} ended with ${log.last_size} leaves, not ${size}.`,
      );
    } catch (error) {
      if (!(error instanceof TallyError)) throw error;
      verdict = failed(name, error.message);
    }
  }
  return verdict;
}

function transactionCheck(
  result: AnchoredResult,
  { transaction, anchors, issuedAt }: AnchorFacts,
  noted: Checkpoint | null,
  posted: PostedHead | null,
): Check {
  const name = 'anchor_transaction';
  const { network, tx_hash, block_height, merkle_root, tree_size, verified_at } = result;
  if (transaction === undefined) {
    return unchecked(
      name,
      `The chain was not asked; the claim that it was final at ${verified_at} is not signed.`,
    );
  }
  if (transaction === null) return failed(name, `${network} has no transaction ${tx_hash}.`);
  if (transaction.txHash.toLowerCase() !== tx_hash || transaction.blockHeight !== block_height) {
    return failed(name, `The transaction is ${transaction.txHash} in block ${transaction.blockHeight}.`);
  }
  if (posted === null) return failed(name, 'The transaction posts no root.');
  if (
    merkle_root !== `sha256:${toHex(posted.root)}` ||
    posted.size !== (tree_size ?? noted?.size ?? posted.size)
  ) {
    return failed(name, `It posts sha256:${toHex(posted.root)} over ${posted.size} leaves.`);
  }
  const isPosted = (origin: string): boolean => equalBytes(sha256(utf8(origin)), posted.originSha256);
  if (noted !== null && !isPosted(noted.origin)) {
    return failed(name, `It posts the root of a log other than ${noted.origin}.`);
  }
  const posters = postersOf(anchors).filter(({ origin }) =>
    noted === null ? isPosted(origin) : origin === noted.origin,
  );
  if (posters.length === 0) {
    return unchecked(name, 'The given trust does not list the account that posts for this log.');
  }
  const from = transaction.from.toLowerCase();
  const own = posters.filter(
    (poster) =>
      poster.network === network &&
      poster.chain_id === transaction.chainId &&
      poster.address.toLowerCase() === from,
  );
  const at = formatTimestamp(transaction.blockTime * 1000);
  if (!own.some((poster) => wasInUse(poster, transaction.blockTime))) {
    const when = own.length === 0 ? 'does not post' : `did not post at ${at}`;
    return failed(name, `${from} on chain ${transaction.chainId} (${network}) ${when} for this log.`);
  }
  return check(
    name,
    issuedAt <= transaction.blockTime + CLOCK_SKEW,
    `It existed at ${at}: block ${block_height} of ${network} contains the root.`,
    `It claims to have been issued after it was anchored at ${at}.`,
  );
}
