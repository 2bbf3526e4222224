import {
  canonicalBytes,
  canonicalize,
  copyJson,
  formatTimestamp,
  isDid,
  isRecipient,
  receiptId,
  TallyError,
  toBase64url,
  toHex,
} from '@tallystick/core';
import { type Anchor, anchor } from '../anchors/anchor.ts';
import { ServiceError } from '../http/service-error.ts';
import {
  type CallOptions,
  createTransport,
  type Transport,
  type TransportOptions,
} from '../http/transport.ts';
import { type SigningKey, signerOf } from '../issuers/signing-key.ts';
import type { IssueReceipt } from './documents.ts';
import type { Issued } from './issued.ts';

/** Parameters of `issue` (specification 2.9). */
export interface IssueParams {
  /** The asset's symbol: `USDC`. */
  readonly symbol: string;
  /** Number of units: a whole number, at least 0. */
  readonly units: number;
  /** Amount in US dollars, at least 0. */
  readonly amountUsd: number;
  /** Recipient: a DID, an EVM or Solana address, or an account of another chain in CAIP-10 form. */
  readonly recipient: string;
  /** The issuer's signing key. It is not sent anywhere. */
  readonly issuerSk: SigningKey;
  /** API key, needed for anchoring. */
  readonly apiKey?: string | undefined;
  /** Whether to have the receipt's hash anchored; false when absent, and then nothing is sent. */
  readonly anchor?: boolean | undefined;
  /** The DID that the key is registered under. */
  readonly issuerDid?: string | undefined;
  /** Whether to claim that the service has verified that DID: false when absent. Verifiers check this claim themselves. */
  readonly issuerVerified?: boolean | undefined;
}

/**
 * A receipt that its issuer signed, and its anchor: null if none was asked for. If one
 * was, the receipt carries `anchor_ref` and the API key's `tier`, which no signature covers.
 */
export interface IssuedByIssuer extends Issued<IssueReceipt> {
  readonly anchor: Anchor | null;
}

/**
 * Thrown when the receipt was signed, but not anchored. `issued` is valid as it is: keep it, and try `client.anchor`
 * later. The code and the other members are those of the refusal.
 */
export class AnchorError extends ServiceError {
  readonly issued: Issued<IssueReceipt>;

  constructor(refusal: ServiceError, issued: Issued<IssueReceipt>) {
    const { code, message, field, status, retryAfter, final, requestId, receiptId, problem } = refusal;
    super(code, `The receipt is signed but not anchored. ${message}`, {
      field,
      status,
      retryAfter,
      final,
      requestId,
      receiptId,
      problem,
      cause: refusal,
    });
    this.issued = issued;
  }
}

/**
 * Issues a receipt `svc-issue-v1`, signed locally with the issuer's key. Only with `anchor` is anything sent, and
 * then only the hash.
 * @throws invalid_field, invalid_did, invalid_secret_key before anything is signed; AnchorError, which has the
 * signed receipt
 */
export async function issue(
  params: IssueParams & TransportOptions,
  call?: CallOptions,
): Promise<IssuedByIssuer> {
  if (params.anchor !== true) return { ...(await signIssue(params)), anchor: null };
  return issueAnchored(createTransport(params), params, call);
}

/** `issue` with `anchor`, over an existing transport that sends `apiKey`. */
export async function issueAnchored(
  transport: Transport,
  params: IssueParams,
  call?: CallOptions,
): Promise<IssuedByIssuer> {
  const issued = await signIssue(params);
  try {
    const placed = await anchor(transport, issued.text, call);
    const tier = tierOf(params.apiKey);
    const receipt: IssueReceipt = {
      ...issued.receipt,
      anchor_ref: placed.anchor_ref,
      ...(tier === undefined ? {} : { tier }),
    };
    return { receipt, text: canonicalize(copyJson(receipt)), anchor: placed };
  } catch (error) {
    throw error instanceof ServiceError ? new AnchorError(error, issued) : error;
  }
}

const TIERS = new Map([
  ['k_pro_', 'pro'],
  ['k_scale_', 'scale'],
  ['k_ent_', 'enterprise'],
]);

/** The tier that an API key's prefix names (specification 2.10). */
function tierOf(apiKey = ''): string | undefined {
  return TIERS.get(/^k_[a-z]+_/.exec(apiKey)?.[0] ?? '');
}

async function signIssue(params: IssueParams): Promise<Issued<IssueReceipt>> {
  assertParams(params);
  const signer = await signerOf(params.issuerSk);
  const now = Date.now();
  const random = toHex(crypto.getRandomValues(new Uint8Array(6)));
  const body = {
    type: 'svc-issue-v1' as const,
    receipt_id: receiptId('issue', Math.floor(now / 1_000), random),
    symbol: params.symbol,
    units: params.units,
    amount_usd: params.amountUsd,
    recipient: params.recipient,
    issued_at: formatTimestamp(now),
    ...(params.issuerDid === undefined ? {} : { issuer_did: params.issuerDid }),
    issuer_pubkey: toBase64url(signer.publicKey),
    issuer_verified: params.issuerVerified ?? false,
  };
  // Throws for texts that are not I-JSON.
  copyJson(body);
  const sig_b64u = toBase64url(await signer.sign(canonicalBytes(body)));
  const receipt = { ...body, sig_b64u };
  return { receipt, text: canonicalize(receipt) };
}

function assertParams({ symbol, units, amountUsd, recipient, issuerDid }: IssueParams): void {
  const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
  refuseUnless(isText(symbol), 'symbol', 'a non-empty string');
  refuseUnless(Number.isSafeInteger(units) && units >= 0, 'units', 'a whole number from 0 to 2^53-1');
  const isAmount = typeof amountUsd === 'number' && amountUsd >= 0 && amountUsd <= Number.MAX_SAFE_INTEGER;
  refuseUnless(isAmount, 'amountUsd', 'a number from 0 to 2^53-1');
  const isKnownForm = typeof recipient === 'string' && isRecipient(recipient);
  refuseUnless(isKnownForm, 'recipient', 'a DID, an EVM or Solana address, or an account in CAIP-10 form');
  refuseUnless(issuerDid === undefined || isDid(issuerDid), 'issuerDid', 'a DID');
}

function refuseUnless(good: boolean, field: string, expected: string): void {
  if (!good) throw new TallyError('invalid_field', `${field} must be ${expected}.`, { field });
}
