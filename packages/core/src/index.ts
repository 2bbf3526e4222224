export { aesGcmDecrypt, aesGcmEncrypt } from './aes-gcm.ts';
export { CallCollector, type CollectedAnswer } from './call/collector.ts';
export type { CallProtocol } from './call/protocol.ts';
export {
  type CallCheck,
  type CallInput,
  type CallVerdict,
  callVerdict,
  type JsonInput,
  type ReadCall,
  readCall,
  type VerifyCallOptions,
  verifyCall,
} from './call/verify-call.ts';
export { correctionOf, isForCorrection, nameOf, readCorrection } from './corrections/correction.ts';
export type { Correction, NamedReceipt } from './corrections/correction-shape.ts';
export { correctionText } from './corrections/correction-text.ts';
export {
  type CorrectedReceipt,
  type CorrectedState,
  type CorrectionVerdict,
  type JudgedLink,
  type JudgedReceipt,
  judgeCorrections,
  verifyCorrections,
} from './corrections/verify-corrections.ts';
export { type Did, isDid, parseDid } from './did/did.ts';
export { type DidDocumentKey, didDocument, keysOfDidDocument } from './did/document.ts';
export { didKeyOf, publicKeyOfDidKey } from './did/key.ts';
export { didSvc, parseDidSvc, type SvcDid } from './did/svc.ts';
export { didWebUrl } from './did/web.ts';
export { defaultEngine, nobleEngine, nodeCrypto, webCryptoEngine } from './ed25519/engines.ts';
export { keyDocument, secretInKeyDocument } from './ed25519/key-document.ts';
export { nodeEngineOf } from './ed25519/node-engine.ts';
export {
  checkPublicKey,
  type Ed25519Engine,
  publicKeyFault,
  signatureFault,
  verifyEd25519,
} from './ed25519/profile.ts';
export { createSigner, generateSecretKey, publicKeyOf, type Signer } from './ed25519/signer.ts';
export { x25519PublicKeyOf, x25519SecretKeyOf } from './ed25519/x25519.ts';
export { fromBase58, toBase58 } from './encoding/base58.ts';
export { fromBase64url, toBase64url } from './encoding/base64url.ts';
export { concatBytes, equalBytes, utf8 } from './encoding/bytes.ts';
export { fromHex, toHex } from './encoding/hex.ts';
export { fromMultibase, toMultibase } from './encoding/multibase.ts';
export { type ErrorCode, errorTable, TallyError } from './errors.ts';
export { isChecksummed } from './ethereum/checksum.ts';
export { type HashedTransaction, readNodeTransaction } from './ethereum/transaction.ts';
export { type BundleCorrections, CorrectionsCheck } from './evidence/corrections-check.ts';
export { crc32 } from './evidence/crc32.ts';
export {
  type EvidenceFile,
  type EvidenceManifest,
  type EvidencePlace,
  type ManifestFacts,
  type PurgeFacts,
  type PurgeRecord,
  signManifest,
  signPurge,
} from './evidence/document.ts';
export { excusesOf, withinPurges } from './evidence/excuses.ts';
export { EVIDENCE_REASONS, EvidenceFault, type EvidenceReason } from './evidence/fault.ts';
export { findRenamed } from './evidence/find-renamed.ts';
export { TrustForkFault } from './evidence/judging-bundle.ts';
export { type BundlePart, type JudgedPart, PartJudge } from './evidence/part-judge.ts';
export { EVIDENCE_PATHS, hashesPath, meteringDigest, partPaths } from './evidence/parts.ts';
export {
  type BundleOptions,
  type BundleProgress,
  type BundleVerdict,
  type PartJudges,
  type SharedTerms,
  trustOfBundle,
  verifyBundle,
} from './evidence/verify-bundle.ts';
export { layoutZip, localHeader, type ZipLayout, type ZipPlace } from './evidence/zip-layout.ts';
export { type ByteSource } from './evidence/zip-reader.ts';
export { hkdfSha256, hmacSha256, type Sha256, sha256, sha256Hex } from './hash.ts';
export { contentDigest, matchesContentDigest } from './http-signatures/content-digest.ts';
export {
  type AgentKey,
  type SignatureMoment,
  signRequest,
  type UnsignedRequest,
} from './http-signatures/sign.ts';
export {
  isSigned,
  type ReceivedRequest,
  type RequestSignature,
  readRequestSignature,
  SIGNATURE_WINDOW,
  verifyRequestSignature,
} from './http-signatures/verify.ts';
export { canonicalBytes, canonicalize } from './json/canonical.ts';
export { copyJson } from './json/copy.ts';
export { LineReader, lineName, parseLine, type TakeLine } from './json/lines.ts';
export { parseJson } from './json/parse.ts';
export { formatPath } from './json/path.ts';
export type { JsonObject, JsonPrimitive, JsonValue } from './json/types.ts';
export type { AnchorTransaction } from './log/anchor-checks.ts';
export {
  type AnchorPlace,
  type AnchorRef,
  anchoredRef,
  batchId,
  parseAnchorRef,
  parseShortId,
  pendingRef,
  shortId,
} from './log/anchor-ref.ts';
export { type AnchoredResult, leafOf, readAnchoredResult } from './log/anchored.ts';
export {
  type Checkpoint,
  checkpointText,
  type LogKey,
  openCheckpoint,
  parseCheckpointText,
  signCheckpoint,
} from './log/checkpoint.ts';
export {
  type CosigningKey,
  checkCosignature,
  cosignatureKeyHash,
  cosignCheckpoint,
  parseWitnessKey,
  withSignature,
  witnessKey,
} from './log/cosignature.ts';
export { type ForkFile, forkOf, type LeafPlace, type ProvenFork, verifyFork } from './log/fork.ts';
export { formatNote, type Note, type NoteSignature, noteKeyHash, parseNote } from './log/note.ts';
export { decodePosting, encodePosting, type PostedHead } from './log/posting.ts';
export {
  encodeEntries,
  entriesPath,
  parseTilePath,
  TILE_WIDTH,
  type TilePath,
  tilePath,
} from './log/tiles.ts';
export { formatTlogProof, parseTlogProof, type TlogProof } from './log/tlog-proof.ts';
export { parseVerifierKey, type VerifierKey, verifierKey } from './log/verifier-key.ts';
export { CompactRange, type CompactRangeState } from './merkle/compact-range.ts';
export {
  type ConsistencyClaim,
  consistencyNodes,
  consistencyProof,
  subproofNodes,
  verifyConsistency,
} from './merkle/consistency.ts';
export { emptyRoot, foldNodes, leafHash, nodeHash } from './merkle/hash.ts';
export {
  type InclusionClaim,
  inclusionNodes,
  inclusionProof,
  rootFromInclusion,
  verifyInclusion,
} from './merkle/inclusion.ts';
export { merkleRoot } from './merkle/root.ts';
export type { TreeNode } from './merkle/subtree.ts';
export { type CheckedBill, checkBill, type MeteringBill } from './metering/bill.ts';
export {
  COMMITMENT_LABELS,
  type CommitmentLabel,
  checkOpening,
  commit,
  newSalt,
  type Opening,
  openingKey,
  saltCommitment,
} from './metering/commitments.ts';
export { isCurrency } from './metering/currencies.ts';
export { COVERAGE_CLASSES, SERVICE_UNITS, SETTLEMENT_CLASSES, VERDICTS } from './metering/derive.ts';
export { type EvidenceSummary, EvidenceTally } from './metering/evidence.ts';
export { EVIDENCE_CLASSES, type EvidenceClass, type EvidenceCounts } from './metering/evidence-classes.ts';
export { evidenceCountsIn, evidenceHeaders } from './metering/evidence-headers.ts';
export { type EvidenceItem, type ReceiptEvidence } from './metering/evidence-item.ts';
export { type AssessedEvidence, EvidenceIntake } from './metering/intake.ts';
export type { EvidenceLeaf } from './metering/leaf.ts';
export { describeCounts } from './metering/metering.ts';
export { mintMetering } from './metering/mint.ts';
export type { MeteringReceipt } from './metering/shape.ts';
export { assessPq } from './ml-dsa/assess-pq.ts';
export {
  PQ_ALGORITHM,
  PQ_SIGNED,
  type PqSignature,
  type PqSigner,
  pqKeyId,
} from './ml-dsa/pq-signature.ts';
export { BENCHMARK_NODES, type BenchmarkNode, signBenchmark } from './receipts/benchmark.ts';
export { anchoredHash, countersign } from './receipts/countersign.ts';
export { ENVELOPE_PROFILE, type EnvelopeFacts, mintEnvelope } from './receipts/envelope.ts';
export {
  type Check,
  CLOCK_SKEW,
  type CounterSignature,
  type FamilyName,
  SCHEMA_VERSION,
} from './receipts/family.ts';
export { receiptId, receiptIdPattern } from './receipts/id.ts';
export type { IssuedReceipt } from './receipts/issue.ts';
export type { NamedSettlement } from './receipts/named-settlement.ts';
export type { NanoReceipt } from './receipts/profiles/nano.ts';
export type { PqReceipt } from './receipts/profiles/pq.ts';
export {
  CARRIED_MEMBERS,
  type CarriedMember,
  type Issuance,
  type ProfileFacts,
  RECOMMENDATION_RULES,
  type ReceiptProfile,
  type RecommendationRule,
  type SettlementReference,
  type Subject,
  type UnsignedMembers,
} from './receipts/profiles/profile.ts';
export { type Profile, profiles, type ReceiptOfProfile } from './receipts/profiles/registry.ts';
export type { StandardReceipt } from './receipts/profiles/standard.ts';
export {
  DEFAULT_PROFILE,
  KEPT,
  type KeptAs,
  METERING_TERMS,
  PROFILES,
  profileNamed,
  termsOf,
} from './receipts/profiles/terms.ts';
export { emitReceipt } from './receipts/profiles.ts';
export { isRecipient } from './receipts/recipient.ts';
export type { SettlementTransaction } from './receipts/settlement.ts';
export { isObject } from './receipts/shape.ts';
export { type StatusDocument, type StatusIssuance, signStatus, statusDigest } from './receipts/status.ts';
export { followStatus, type SeenStatus, type StatusStanding } from './receipts/status-chain.ts';
export {
  readStatus,
  STATUS_STATES,
  type StatusEndpoint,
  type StatusLog,
  type StatusModel,
  type StatusReport,
  type StatusState,
} from './receipts/status-report.ts';
export { openSeal, type SealedDocument, type SealReference, seal, sealReference } from './seal.ts';

export { RECEIPT_META_KEY, resultWithoutReceipt } from './sessions/mcp-result.ts';

export { checkOpenedValue, type OpenedValue, openSessionValue } from './sessions/opened-value.ts';

export {
  type RecordedTool,
  type RecorderOptions,
  type Referenced,
  type SessionBeginning,
  type SessionHead,
  SessionRecorder,
} from './sessions/recorder.ts';
export { commitSalt, type SaltedPart, type SessionValue, saltedHash, saltOf } from './sessions/salted.ts';
export {
  checkToolCall,
  rootOf,
  type SessionCall,
  type SessionOpening,
  shortName,
  type ToolOutcome,
  type ToolServer,
} from './sessions/session-call.ts';
export { readSessionReceipt, type SessionReceipt } from './sessions/session-receipt.ts';
export {
  declaredSigner,
  ownKeySigner,
  type SessionEntryToSign,
  type SessionSigner,
  type SessionSignerOptions,
} from './sessions/signers.ts';
export {
  type ReferenceState,
  type SessionEntry,
  type SessionFault,
  type SessionFaultName,
  type SessionVerification,
  type VerifySessionOptions,
  verifySession,
} from './sessions/verify-session.ts';
export { nextStreamHead, streamStart } from './streams/chain.ts';
export { changeFault } from './streams/change-fault.ts';
export {
  readStreamHead,
  type StreamHead,
  type StreamHeadFacts,
  signStreamHead,
  streamHeadHash,
} from './streams/head.ts';
export { addedFault, leftOut, type StreamFault } from './streams/stream-fault.ts';
export {
  type AbsentReceipt,
  type GivenReceipt,
  judgeStream,
  type StreamEvidence,
  type StreamVerdict,
} from './streams/verify-stream.ts';
export { compareInstants, formatTimestamp, type Instant, parseTimestamp, secondsOf } from './time.ts';
export type { AnchorAuthority, AnchorHistory, Payee } from './trust/authority.ts';
export {
  bundleHash,
  checkTrustBundle,
  readSavedBundle,
  readTrustPin,
  rootFingerprint,
  signTrustBundle,
  type TrustBundle,
  type TrustBundleFacts,
  type TrustPin,
} from './trust/bundle.ts';
export {
  follows,
  type ProvenTrustFork,
  type TrustForkFile,
  trustForkOf,
  verifyTrustFork,
} from './trust/fork.ts';
export {
  bothTrusts,
  type IssuerKey,
  type IssuerRecord,
  KEY_PURPOSES,
  type KeyPurpose,
  type KeyTimes,
  type PqKey,
  REVOCATION_REASONS,
  type RevocationReason,
  readIssuerKey,
  readPqKey,
  type Trust,
  trustOf,
} from './trust/issuer.ts';
export {
  applyStatement,
  checkIssuerDocument,
  type IssuerDocument,
  type IssuerStatement,
  readSignedStatement,
  registeredIssuer,
  type SignedStatement,
  type StatementFacts,
  signStatement,
} from './trust/statements.ts';
export { takenBack } from './trust/taken-back.ts';
export { revocationsTakenBack, vanished } from './trust/vanished.ts';
export {
  type EvidenceSources,
  evidenceVerifier,
  familyOf,
  readReceipt,
  settlementOf,
  type Verification,
  type VerifyOptions,
  verify,
  verifyParsed,
} from './verify.ts';
export { VERSION } from './version.ts';
export { POLICY_REASONS, PolicyFault, type PolicyReason } from './witness/fault.ts';
export { judgeCheckpoint, type Witnessed, type WitnessFinding } from './witness/judge.ts';
export { parseWitnessPolicy, type WitnessPolicy } from './witness/policy.ts';
export { witnessedText } from './witness/text.ts';
