import { DEFAULT_PROFILE, type Profile, type ReceiptOfProfile, type SealReference } from '@tallystick/core';
import { pathPart } from '../http/path-part.ts';
import { type CallOptions, defined, type Transport } from '../http/transport.ts';
import { type Issued, issuedIn } from './issued.ts';

/** Subject of the receipt: any JSON, a text, or only its SHA-256 (64 hex), so that the content stays with the caller. */
export type EmitSubject =
  | { readonly payload: unknown; readonly input?: undefined; readonly payloadSha256?: undefined }
  | { readonly input: string; readonly payload?: undefined; readonly payloadSha256?: undefined }
  | { readonly payloadSha256: string; readonly payload?: undefined; readonly input?: undefined };

export type EmitParams<P extends Profile = Profile> = EmitSubject & {
  /** Profile of the receipt: `standard` when absent. */
  readonly profile?: P | undefined;
  /** DID of the agent; the client's when absent. */
  readonly agentDid?: string | undefined;
  /** Purpose of the receipt; not in nano. */
  readonly purpose?: string | undefined;
  /** The subject's media type. */
  readonly contentType?: string | undefined;
  /** Whether the recorded action succeeded: true when absent. */
  readonly ok?: boolean | undefined;
  /** Settlement as the caller declares it; not in nano. */
  readonly settlementReference?:
    | {
        readonly rail: string;
        readonly chainId: number;
        readonly asset: string;
        readonly tx?: string | undefined;
      }
    | undefined;
  /** Result of `sealReference` for a sealed subject; not in nano. */
  readonly seal?: SealReference | undefined;
  /** For pq only: reference of the sealed evidence. */
  readonly sealedEvidenceRef?: string | null | undefined;
  /** For pq only: value of the receipt's member `auditor_verifier`. */
  readonly auditorVerifier?: boolean | undefined;
  /** Whether to anchor the receipt's hash. Needs an API key; with a Scale or Enterprise key every receipt is anchored. */
  readonly anchor?: boolean | undefined;
};

/** Emits a receipt of a profile, at `/v1/receipt/emit` unless a tenant's path is given. @throws ServiceError (unknown_profile, conflicting_fields, receipt_too_large…) */
export async function emit<P extends Profile = typeof DEFAULT_PROFILE>(
  transport: Transport,
  params: EmitParams<P>,
  call?: CallOptions,
  at = '/v1/receipt/emit',
): Promise<Issued<ReceiptOfProfile[P]>> {
  const { profile = DEFAULT_PROFILE, settlementReference: settlement } = params;
  const members = {
    agent_did: params.agentDid,
    payload: params.payload,
    input: params.input,
    payload_sha256: params.payloadSha256,
    purpose: params.purpose,
    content_type: params.contentType,
    ok: params.ok,
    settlement_reference:
      settlement &&
      defined({
        rail: settlement.rail,
        chain_id: settlement.chainId,
        asset: settlement.asset,
        tx: settlement.tx,
      }),
    seal: params.seal,
    sealed_evidence_ref: params.sealedEvidenceRef,
    auditor_verifier: params.auditorVerifier,
    anchor: params.anchor,
  };
  return issuedIn(await transport.post(`${at}?profile=${pathPart(profile, 'profile')}`, members, call));
}
