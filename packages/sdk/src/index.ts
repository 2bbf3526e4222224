export {
  type AgentKey,
  type AnchoredResult,
  type AnchorTransaction,
  anchoredHash,
  type CallCheck,
  CallCollector,
  type CallInput,
  type CallProtocol,
  type CallVerdict,
  type CollectedAnswer,
  type CorrectedReceipt,
  type CorrectedState,
  type CorrectionVerdict,
  canonicalBytes,
  canonicalize,
  checkIssuerDocument,
  checkOpening,
  commit,
  countersign,
  didKeyOf,
  type ErrorCode,
  type EvidenceClass,
  type EvidenceCounts,
  type EvidenceItem,
  type EvidenceLeaf,
  type EvidenceManifest,
  type GivenReceipt,
  generateSecretKey,
  type IssuerDocument,
  type JsonInput,
  judgeStream,
  type MeteringReceipt,
  type NanoReceipt,
  openingKey,
  openSeal,
  PolicyFault,
  type PolicyReason,
  type PqReceipt,
  type Profile,
  parseJson,
  parseWitnessPolicy,
  type ReceiptEvidence,
  type ReceiptOfProfile,
  type Referenced,
  readStreamHead,
  type SealedDocument,
  type SealReference,
  type SessionHead,
  type SessionVerification,
  type SignedStatement,
  type Signer,
  type StandardReceipt,
  type StatementFacts,
  type StreamEvidence,
  type StreamFault,
  type StreamHead,
  type StreamVerdict,
  seal,
  sealReference,
  signRequest,
  signStatement,
  TallyError,
  type ToolOutcome,
  type ToolServer,
  type TrustBundle,
  type TrustPin,
  type UnsignedMembers,
  type Verification,
  type VerifySessionOptions,
  verifySession,
  type Witnessed,
  type WitnessPolicy,
} from '@tallystick/core';
export type { ForeignVerification } from '@tallystick/core/foreign';
export type { Anchor, PendingAnchor } from './anchors/anchor.ts';
export type { HashOrReceipt } from './anchors/hash.ts';
export type { WaitOptions } from './anchors/wait-for-anchor.ts';
export { withAnchor } from './anchors/with-anchor.ts';
export {
  type CallReport,
  type ClientFetch,
  type ReceiptFetchOptions,
  receiptFetch,
} from './calls/receipt-fetch.ts';
export { type VerifyCallParams, verifyCall } from './calls/verify-call.ts';
export type { SelectProfileParams } from './choose/select-profile.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export type { Lines } from './http/ndjson.ts';
export { ServiceError } from './http/service-error.ts';
export type { CallOptions, Fetch } from './http/transport.ts';
export { createSigner } from './issuers/create-signer.ts';
export type { RegisterIssuerParams } from './issuers/register-issuer.ts';
export type { SigningKey } from './issuers/signing-key.ts';
export type {
  AccountKeyMethods,
  KeyParams,
  ListKeysParams,
  RotateKeyParams,
} from './methods/account-keys.ts';
export type { BalanceMethods, StatementParams, TopUpParams, WithdrawalParams } from './methods/balance.ts';
export type { CallContentMethods } from './methods/call-content.ts';
export type { CallFilters, CallMethods, CountCallsParams } from './methods/calls.ts';
export type { ModelClientOptions } from './methods/client-options.ts';
export type { ComputeMethods, PeriodParams, RateCallParams } from './methods/compute.ts';
export type * from './methods/documents.ts';
export type { BuyKeyParams, KeyMethods, QuoteKeyParams } from './methods/keys.ts';
export type {
  ListAnchorsParams,
  ListMethods,
  ListParams,
  ListPostingsParams,
  ListReceiptsParams,
  StreamPart,
} from './methods/lists.ts';
export type { LimitParams, LogMethods } from './methods/log.ts';
export type { MemberMethods, RegisterMemberParams } from './methods/members.ts';
export type { NormalizePolicyParams, PartnerMethods, QualifyOriginParams } from './methods/partners.ts';
export type { ServiceMethods } from './methods/service.ts';
export type {
  AddSessionReceiptParams,
  OpenServiceSessionParams,
  SessionMethods,
} from './methods/sessions.ts';
export type { TenantMethods } from './methods/tenants.ts';
export type { RotateWebhookSecretParams, WebhookMethods, WebhookParams } from './methods/webhooks.ts';
export { type BillCommitments, type BillSecrets, commitBill } from './receipts/commit-bill.ts';
export {
  type CorrectionMethods,
  type CorrectReceiptParams,
  type VerifyCorrectionsOptions,
  verifyCorrections,
} from './receipts/corrections.ts';
export type {
  EnvelopeReceipt,
  IssueReceipt,
  ServiceUnit,
  SettlementClass,
  StoredReceipt,
} from './receipts/documents.ts';
export type { EmitParams, EmitSubject } from './receipts/emit.ts';
export { evidenceLeaf, evidenceReceipt } from './receipts/evidence-leaf.ts';
export { AnchorError, type IssuedByIssuer, type IssueParams, issue } from './receipts/issue.ts';
export type { Issued } from './receipts/issued.ts';
export type { IssuedBill, MeterParams } from './receipts/meter.ts';
export type { MintFreeParams } from './receipts/mint-free.ts';
export type { ReceiptInput } from './receipts/read.ts';
export type { RemoteVerifyOptions } from './receipts/verify.ts';
export { type VerifyForeignParams, verifyForeign } from './receipts/verify-foreign.ts';
export { type VerifyReceiptOptions, verifyReceipt } from './receipts/verify-receipt.ts';
export {
  type Begun,
  closeSession,
  type OpenSessionOptions,
  openSession,
  record,
  type Session,
  type ToolBeginning,
  type ToolEnd,
} from './sessions/session.ts';
export type { SessionIssuer } from './sessions/signer.ts';
export { type CheckedTrust, type CheckTrustOptions, checkTrust } from './trust/check-trust.ts';
export type { FetchedTrust, FetchTrustParams } from './trust/fetch-trust.ts';
export type { KnownIssuers } from './trust/known-issuers.ts';
export { memoryTrustStore, type SavedTrust, type TrustStore } from './trust/trust-store.ts';
