import { fromBase64url } from '../encoding/base64url.ts';
import {
  bytes32,
  type Infer,
  integer,
  keyId,
  listOf,
  nonEmptyText,
  nullable,
  object,
  timestamp,
} from '../receipts/shape.ts';
import { secondsOf } from '../time.ts';

export const log = { origin: nonEmptyText, key_id: keyId, public_key: bytes32 } as const;
export const chain = { network: nonEmptyText, chain_id: integer(1), address: nonEmptyText } as const;

/** From `valid_from` on, until just before `valid_until`; null where the start is not known. */
const span = { valid_from: nullable(timestamp), valid_until: timestamp } as const;

export const anchorHistory = object({
  logs: listOf(
    object({
      ...log,
      /** Leaves of the last tree that counts; null where that is not known. */
      last_size: nullable(integer(0)),
      ...span,
    }),
  ),
  chains: listOf(
    object({
      /** The log for which the account posted. */
      origin: nonEmptyText,
      ...chain,
      ...span,
    }),
  ),
});

/** Logs and posting accounts that a service had earlier, each with the time in which it was in use. */
export type AnchorHistory = Infer<typeof anchorHistory>;

export const payee = object({
  chain_id: integer(1),
  /** Asset as receipts name it: `USDC`. */
  asset: nonEmptyText,
  /** `0x` and 40 hex: the token's contract. */
  token: nonEmptyText,
  decimals: integer(0, 36),
  /** Address that is paid, or was paid at some time: `0x` and 40 hex. */
  address: nonEmptyText,
});

/** Account that is paid for a service, and its token. */
export type Payee = Infer<typeof payee>;

/** Log and chain that a service's anchors are checked against, and the accounts that it is paid to. */
export interface AnchorAuthority {
  readonly log: { readonly origin: string; readonly key_id: string; readonly public_key: string } | null;
  readonly chain: { readonly network: string; readonly chain_id: number; readonly address: string } | null;
  readonly payees?: readonly Payee[] | undefined;
  /** Logs and posting accounts of before, whose anchors still count. */
  readonly history?: AnchorHistory | undefined;
}

/** A log whose checkpoints count. Only a log of the history has a `last_size`: for the present log it is undefined, even if the bundle has a member of that name. */
export interface KnownLog {
  readonly origin: string;
  readonly key_id: string;
  readonly public_key: string;
  readonly publicKey: Uint8Array;
  readonly last_size?: number | null | undefined;
}

/** An account whose postings count for the log of that origin. One that posts at present has no span: its `valid_until` is undefined. */
export interface KnownPoster {
  readonly origin: string;
  readonly network: string;
  readonly chain_id: number;
  readonly address: string;
  readonly valid_from?: string | null;
  readonly valid_until?: string | undefined;
}

/** The logs of these authorities, or those of one origin: each one's present log, then its earlier ones. */
export function logsOf(anchors: readonly AnchorAuthority[], origin?: string): readonly KnownLog[] {
  return anchors
    .flatMap(({ log, history }) => [log ? { ...log, last_size: undefined } : [], history?.logs ?? []].flat())
    .filter((log) => origin === undefined || log.origin === origin)
    .map((log) => ({ ...log, publicKey: fromBase64url(log.public_key, 32) }));
}

/** Whether a tree of this size is one that the log signed while it was in use; null where that is not known. */
export function isWithin({ last_size }: KnownLog, size: number): boolean | null {
  return last_size === null ? null : last_size === undefined || size <= last_size;
}

/** The posting accounts of these authorities, present and earlier. */
export function postersOf(anchors: readonly AnchorAuthority[]): readonly KnownPoster[] {
  return anchors.flatMap(({ log, chain, history }) =>
    [
      log && chain ? { ...chain, origin: log.origin, valid_until: undefined } : [],
      history?.chains ?? [],
    ].flat(),
  );
}

/** Whether the account was in use at a time, in Unix seconds. */
export function wasInUse({ valid_from, valid_until }: KnownPoster, at: number): boolean {
  if (valid_until === undefined) return true;
  return (valid_from ? secondsOf(valid_from) <= at : true) && at < secondsOf(valid_until);
}
