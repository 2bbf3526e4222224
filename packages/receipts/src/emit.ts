import type { Agent } from '@tallystick/callers';
import {
  canonicalBytes,
  emitReceipt,
  fromHex,
  type JsonValue,
  type Profile,
  profileNamed,
  type SealReference,
  type SettlementReference,
  type Subject,
  sha256,
  TallyError,
  utf8,
} from '@tallystick/core';
import { type LedgerStore, type MemberTier, tierOf } from '@tallystick/ledger';
import type { Draft } from './issue.ts';
import { draft, namingLongest, type SigningContext } from './mint.ts';

/** What a caller asks to be receipted: exactly one of `payload`, `input` and `payload_sha256`. */
export interface EmitRequest {
  readonly agent_did?: string | undefined;
  readonly payload?: JsonValue | undefined;
  readonly input?: string | undefined;
  readonly payload_sha256?: string | undefined;
  readonly purpose?: string | undefined;
  readonly content_type?: string | undefined;
  readonly ok?: boolean | undefined;
  readonly settlement_reference?:
    | {
        readonly rail: string;
        readonly chain_id: number;
        readonly asset: string;
        readonly tx?: string | undefined;
      }
    | undefined;
  readonly seal?: SealReference | undefined;
  readonly sealed_evidence_ref?: string | null | undefined;
  readonly auditor_verifier?: boolean | undefined;
}

export interface EmitOptions {
  readonly profile: Profile;
  /** The agent of the request, for a body that names none. */
  readonly agent: Agent;
  readonly verifyUri: string;
  readonly chainId: number;
  /** The transaction that paid for it, which stands before what the caller declares; null where there is none. */
  readonly settlement: SettlementReference | null;
}

const ANONYMOUS = 'did:svc:anonymous';

interface EmitContext extends SigningContext {
  readonly store: { readonly ledger: Pick<LedgerStore, 'member'> };
}

/**
 * Signs a receipt of the chosen profile, which carries the members that the profile has: `refuseUncarried` has refused
 * the others.
 * @throws missing_field, conflicting_fields, empty_input, receipt_too_large, unavailable
 */
export async function signProfile(
  context: EmitContext,
  request: EmitRequest,
  options: EmitOptions,
): Promise<Draft> {
  const { agent, profile } = options;
  const agentDid = request.agent_did ?? agent.did ?? ANONYMOUS;
  const agentProved = agent.proved && agentDid === agent.did;
  const facts = {
    agentDid,
    agentProved,
    subject: subjectOf(request),
    verifyUri: options.verifyUri,
    purpose: request.purpose ?? null,
    settlement: options.settlement ?? settlementOf(request, options.chainId),
    seal: request.seal ?? null,
    reputationTier:
      agentProved && profileNamed(profile).reputation ? await memberTier(context, agentDid) : 'unregistered',
    sealedEvidenceRef: request.sealed_evidence_ref ?? null,
    auditorVerifier: request.auditor_verifier ?? false,
  };
  const { purpose, content_type, sealed_evidence_ref, settlement_reference: settled } = request;
  const texts = {
    [request.agent_did === undefined ? 'X-Agent-DID' : 'agent_did']: agentDid,
    purpose,
    content_type,
    sealed_evidence_ref,
    'seal.seal_id': request.seal?.seal_id,
    'settlement_reference.rail': settled?.rail,
    'settlement_reference.asset': settled?.asset,
    'settlement_reference.tx': settled?.tx,
  };
  return namingLongest(texts, () =>
    draft(context, profile, (issuance) =>
      emitReceipt(profile, facts, issuance, context.issuer.signer('receipt'), context.issuer.pqSigner()),
    ),
  );
}

/** The tier of a DID in the member ledger. Only for a DID that is proved: anybody can name that of a member. */
async function memberTier({ store }: EmitContext, did: string): Promise<MemberTier> {
  return tierOf(await store.ledger.member(did));
}

function subjectOf(request: EmitRequest): Subject {
  const { payload, input, payload_sha256 } = request;
  const given = Object.entries({ payload, input, payload_sha256 }).filter(([, value]) => value !== undefined);
  if (given.length === 0) {
    throw new TallyError(
      'missing_field',
      'Give one of payload (any JSON), input (text) or payload_sha256 (64 hex digits).',
      { field: 'payload' },
    );
  }
  if (given.length > 1) {
    const names = given.map(([name]) => name).join(' and ');
    throw new TallyError(
      'conflicting_fields',
      `Give one of payload, input and payload_sha256, not ${names}.`,
      {
        field: given[1]?.[0],
      },
    );
  }
  if (input === '') throw new TallyError('empty_input', 'input must not be empty.', { field: 'input' });
  const ok = request.ok ?? true;
  const typed = (sha256: Uint8Array, byDefault: string): Subject => ({
    sha256,
    contentType: request.content_type ?? byDefault,
    ok,
  });
  if (input !== undefined) return typed(sha256(utf8(input)), 'text/plain');
  if (payload_sha256 !== undefined) return typed(fromHex(payload_sha256, 32), 'application/octet-stream');
  return typed(sha256(canonicalBytes(payload ?? null)), 'application/json');
}

/** Where a payment would settle on this service, unless the caller declares where one did. */
function settlementOf({ settlement_reference: declared }: EmitRequest, chainId: number): SettlementReference {
  if (declared === undefined)
    return { rail: 'x402', chain_id: chainId, asset: 'USDC', status: 'none', tx: null };
  const { rail, chain_id, asset, tx } = declared;
  return { rail, chain_id, asset, status: 'declared', tx: tx ?? null };
}
