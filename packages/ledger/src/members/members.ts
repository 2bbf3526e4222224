import { formatTimestamp, parseDid, publicKeyOfDidKey, TallyError } from '@tallystick/core';
import type { LedgerStore, Member } from '../ledger-store.ts';
import { jobsToNextTier, type MemberTier, SPREAD_PERCENT, tierOf } from './tiers.ts';

type Ledger = { readonly ledger: LedgerStore };

/** A member, as `/v1/compute/member/*` returns it. */
export interface MemberDocument {
  readonly did: string;
  readonly handle: string | null;
  readonly registered: true;
  readonly registered_at: string;
  readonly tier: MemberTier;
  readonly spread_pct: number;
  readonly jobs: number;
  /** Null in the last tier. */
  readonly jobs_to_next_tier: number | null;
}

export interface NonMember {
  readonly did: string;
  readonly registered: false;
  readonly tier: 'unregistered';
  readonly spread_pct: number;
}

const MAX_LEADERS = 100;

/**
 * Registers a DID, free of charge and without proof: a registration can only be to its advantage. A registered DID stays as it
 * is.
 * @param handle 3 to 32 lower-case letters, digits and hyphens, or null for none
 * @param now Unix milliseconds
 * @throws invalid_did, invalid_field, handle_taken
 */
export async function registerMember(
  { ledger }: Ledger,
  { did, handle, now }: { readonly did: string; readonly handle: string | null; readonly now: number },
): Promise<MemberDocument> {
  assertDidOfSomebody(did);
  if (handle !== null) assertHandle(handle);
  const member = await ledger.registerMember({ did, handle, at: Math.floor(now / 1000) });
  if (member !== 'handle_taken') return memberDocument(member);
  throw new TallyError(
    'handle_taken',
    `The handle ${handle} belongs to another member. Choose another, or leave it out.`,
    {
      field: 'handle',
    },
  );
}

/** Reads the membership of a DID, registered or not. @throws invalid_did */
export async function verifyMember({ ledger }: Ledger, did: string): Promise<MemberDocument | NonMember> {
  parseDid(did);
  const member = await ledger.member(did);
  if (member !== null) return memberDocument(member);
  const tier = 'unregistered';
  return { did, registered: false, tier, spread_pct: SPREAD_PERCENT[tier] };
}

/** The members with most jobs, each with its rank from 1. @param limit at most 100 */
export async function leaderboard(
  { ledger }: Ledger,
  limit: number,
): Promise<(MemberDocument & { readonly rank: number })[]> {
  const members = await ledger.leaderboard(Math.min(limit, MAX_LEADERS));
  return members.map((member, index) => ({ rank: index + 1, ...memberDocument(member) }));
}

function memberDocument(member: Member): MemberDocument {
  const { did, handle, registeredAt, jobs } = member;
  const tier = tierOf(member);
  return {
    did,
    handle,
    registered: true,
    registered_at: formatTimestamp(registeredAt * 1000),
    tier,
    spread_pct: SPREAD_PERCENT[tier],
    jobs,
    jobs_to_next_tier: jobsToNextTier(jobs),
  };
}

/** The DID that receipts name where a caller names none. */
const ANONYMOUS = 'did:svc:anonymous';

/** Whether a DID can be somebody's. That of nobody is none, nor a did:key without a key in it. */
export function isDidOfSomebody(did: string): boolean {
  try {
    assertDidOfSomebody(did);
    return true;
  } catch (error) {
    if (error instanceof TallyError) return false;
    throw error;
  }
}

/** @throws invalid_did for a DID that nobody can prove to be theirs */
function assertDidOfSomebody(did: string): void {
  try {
    if (parseDid(did).method === 'key') publicKeyOfDidKey(did);
  } catch (cause) {
    if (!(cause instanceof TallyError)) throw cause;
    throw new TallyError('invalid_did', cause.message, { field: 'did', cause });
  }
  if (did === ANONYMOUS)
    throw new TallyError('invalid_did', `${ANONYMOUS} stands for nobody, and can’t be registered.`, {
      field: 'did',
    });
}

function assertHandle(handle: string): void {
  if (/^(?=.{3,32}$)[a-z0-9]+(?:-[a-z0-9]+)*$/.test(handle)) return;
  throw new TallyError(
    'invalid_field',
    'A handle is 3 to 32 lower-case letters and digits, with single hyphens between them.',
    { field: 'handle' },
  );
}
