import type {
  AnchoredResult,
  DEFAULT_PROFILE,
  IssuerDocument,
  Profile,
  ReceiptOfProfile,
  SignedStatement,
  Verification,
} from '@tallystick/core';
import { type Anchor, anchor } from './anchors/anchor.ts';
import { anchorBatch } from './anchors/anchor-batch.ts';
import { getAnchor, getAnchorByHash, getAnchorProof, getCoseReceipt } from './anchors/get-anchor.ts';
import type { HashOrReceipt } from './anchors/hash.ts';
import { type WaitOptions, waitForAnchor } from './anchors/wait-for-anchor.ts';
import { pricing } from './choose/pricing.ts';
import { type SelectProfileParams, selectProfile } from './choose/select-profile.ts';
import { type CallOptions, createTransport, type TransportOptions } from './http/transport.ts';
import { issuer } from './issuers/issuer.ts';
import {
  type RegisterIssuerParams,
  registerIssuer,
  submitIssuerStatement,
} from './issuers/register-issuer.ts';
import { type AccountKeyMethods, accountKeyMethods } from './methods/account-keys.ts';
import { type BalanceMethods, balanceMethods } from './methods/balance.ts';
import { type CallContentMethods, callContentMethods } from './methods/call-content.ts';
import { type CallMethods, callMethods } from './methods/calls.ts';
import { clientOptions, type ModelClientOptions } from './methods/client-options.ts';
import { type ComputeMethods, computeMethods } from './methods/compute.ts';
import type { Pricing, Recommendation } from './methods/documents.ts';
import { type KeyMethods, keyMethods } from './methods/keys.ts';
import { type ListMethods, listMethods } from './methods/lists.ts';
import { type LogMethods, logMethods } from './methods/log.ts';
import { type MemberMethods, memberMethods } from './methods/members.ts';
import { type PartnerMethods, partnerMethods } from './methods/partners.ts';
import { type ServiceMethods, serviceMethods } from './methods/service.ts';
import { type SessionMethods, sessionMethods } from './methods/sessions.ts';
import { type TenantMethods, tenantMethods } from './methods/tenants.ts';
import { type WebhookMethods, webhookMethods } from './methods/webhooks.ts';
import { type CorrectionMethods, correctionMethods } from './receipts/corrections.ts';
import type { EnvelopeReceipt, StoredReceipt } from './receipts/documents.ts';
import { type EmitParams, emit } from './receipts/emit.ts';
import { getAttestation } from './receipts/get-attestation.ts';
import { getReceipt } from './receipts/get-receipt.ts';
import { type IssuedByIssuer, type IssueParams, issue, issueAnchored } from './receipts/issue.ts';
import type { Issued } from './receipts/issued.ts';
import { type IssuedBill, type MeterParams, meter } from './receipts/meter.ts';
import { type MintFreeParams, mintFree } from './receipts/mint-free.ts';
import type { ReceiptInput } from './receipts/read.ts';
import { type RemoteVerifyOptions, verify } from './receipts/verify.ts';
import { verifyMany } from './receipts/verify-many.ts';
import type { CheckedTrust } from './trust/check-trust.ts';
import { type FetchedTrust, type FetchTrustParams, fetchTrust, trustVersion } from './trust/fetch-trust.ts';
import { memoryTrustStore, type TrustStore } from './trust/trust-store.ts';

export interface ClientOptions extends TransportOptions {
  /** Store in which `fetchTrust` keeps the newest trust bundle and its pin: in memory when absent. */
  readonly trust?: TrustStore | undefined;
}

/**
 * A client of one service. Methods may be called concurrently and detached from the object. They reject with ServiceError
 * when the service refuses or does not answer, with TallyError when no request is sent, and with the reason
 * of `signal` when that is aborted. Parameters are in camelCase; documents are returned as the API has them.
 */
export interface Client
  extends AccountKeyMethods,
    BalanceMethods,
    CallMethods,
    CallContentMethods,
    ComputeMethods,
    CorrectionMethods,
    KeyMethods,
    ListMethods,
    LogMethods,
    MemberMethods,
    PartnerMethods,
    ServiceMethods,
    SessionMethods,
    TenantMethods,
    WebhookMethods {
  mintFree(params: MintFreeParams, call?: CallOptions): Promise<Issued<EnvelopeReceipt>>;
  emit<P extends Profile = typeof DEFAULT_PROFILE>(
    params: EmitParams<P>,
    call?: CallOptions,
  ): Promise<Issued<ReceiptOfProfile[P]>>;
  meter(params: MeterParams, call?: CallOptions): Promise<IssuedBill>;
  /** `issue` with the client's service and API key. */
  issue(params: IssueParams, call?: CallOptions): Promise<IssuedByIssuer>;
  anchor(hashOrReceipt: HashOrReceipt, call?: CallOptions): Promise<Anchor>;
  /** Has any number of hashes anchored, 10,000 in each request. */
  anchorBatch(hashes: Iterable<HashOrReceipt>, call?: CallOptions): Promise<Anchor[]>;
  getAnchor(anchorRef: string, call?: CallOptions): Promise<Anchor>;
  getAnchorByHash(hashOrReceipt: HashOrReceipt, call?: CallOptions): Promise<Anchor>;
  /** The proof of a hash as a C2SP tlog-proof. */
  getAnchorProof(refOrHash: HashOrReceipt, call?: CallOptions): Promise<string>;
  /** The proof of a hash as a COSE Receipt (RFC 9942). */
  getCoseReceipt(refOrHash: HashOrReceipt, call?: CallOptions): Promise<Uint8Array>;
  waitForAnchor(refOrHash: HashOrReceipt, options?: WaitOptions): Promise<AnchoredResult>;
  /** The evidence of hardware that a receipt names in `hardware.attestation`. */
  getAttestation(attestation: string, call?: CallOptions): Promise<Uint8Array>;
  getReceipt(receiptId: string, call?: CallOptions): Promise<Issued<StoredReceipt>>;
  /** Has the service verify a receipt, by its own trust; `verifyReceipt` needs no network. */
  verify(receipt: ReceiptInput, options?: RemoteVerifyOptions): Promise<Verification>;
  verifyMany(receipts: Iterable<ReceiptInput>, call?: CallOptions): Promise<Verification[]>;
  pricing(call?: CallOptions): Promise<Pricing>;
  selectProfile(params: SelectProfileParams, call?: CallOptions): Promise<Recommendation>;
  registerIssuer(params: RegisterIssuerParams, call?: CallOptions): Promise<IssuerDocument>;
  /** Adds, retires or revokes a key by a statement that `signStatement` made. */
  submitIssuerStatement(statement: SignedStatement, call?: CallOptions): Promise<IssuerDocument>;
  issuer(did: string, call?: CallOptions): Promise<IssuerDocument>;
  fetchTrust(params?: FetchTrustParams, call?: CallOptions): Promise<FetchedTrust>;
  /** An earlier trust bundle, checked but for its expiry. */
  trustVersion(
    version: number,
    params?: Pick<FetchTrustParams, 'root'>,
    call?: CallOptions,
  ): Promise<CheckedTrust>;
  /** What OpenAI's and Anthropic's clients take to call this service's models as this client's caller. */
  clientOptions(): ModelClientOptions;
}

/** Creates a client of a service. No request is sent before a method is called. @throws invalid_field */
export function createClient({ trust = memoryTrustStore(), ...options }: ClientOptions = {}): Client {
  const transport = createTransport(options);
  return {
    ...accountKeyMethods(transport),
    ...balanceMethods(transport),
    ...callMethods(transport),
    ...callContentMethods(transport),
    ...computeMethods(transport),
    ...correctionMethods(transport),
    ...keyMethods(transport),
    ...listMethods(transport),
    ...logMethods(transport),
    ...memberMethods(transport),
    ...partnerMethods(transport),
    ...serviceMethods(transport),
    ...sessionMethods(transport),
    ...tenantMethods(transport),
    ...webhookMethods(transport),
    mintFree: (params, call) => mintFree(transport, params, call),
    emit: (params, call) => emit(transport, params, call),
    meter: (params, call) => meter(transport, params, call),
    issue: (params, call) => {
      if (params.anchor !== true) return issue(params);
      const apiKey = params.apiKey ?? options.apiKey;
      const keyed = apiKey === options.apiKey ? transport : createTransport({ ...options, apiKey });
      return issueAnchored(keyed, { ...params, apiKey }, call);
    },
    anchor: (hashOrReceipt, call) => anchor(transport, hashOrReceipt, call),
    anchorBatch: (hashes, call) => anchorBatch(transport, hashes, call),
    getAnchor: (anchorRef, call) => getAnchor(transport, anchorRef, call),
    getAnchorByHash: (hashOrReceipt, call) => getAnchorByHash(transport, hashOrReceipt, call),
    getAnchorProof: (refOrHash, call) => getAnchorProof(transport, refOrHash, call),
    getCoseReceipt: (refOrHash, call) => getCoseReceipt(transport, refOrHash, call),
    waitForAnchor: (refOrHash, waitOptions) => waitForAnchor(transport, refOrHash, waitOptions),
    getAttestation: (attestation, call) => getAttestation(transport, attestation, call),
    getReceipt: (receiptId, call) => getReceipt(transport, receiptId, call),
    verify: (receipt, verifyOptions) => verify(transport, receipt, verifyOptions),
    verifyMany: (receipts, call) => verifyMany(transport, receipts, call),
    pricing: (call) => pricing(transport, call),
    selectProfile: (params, call) => selectProfile(transport, params, call),
    registerIssuer: (params, call) => registerIssuer(transport, params, call),
    submitIssuerStatement: (statement, call) => submitIssuerStatement(transport, statement, call),
    issuer: (did, call) => issuer(transport, did, call),
    fetchTrust: (params, call) => fetchTrust(transport, trust, params, call),
    trustVersion: (version, params, call) => trustVersion(transport, trust, version, params, call),
    clientOptions: () => clientOptions(options),
  };
}
