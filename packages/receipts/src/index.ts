export { type CorrectionLink, type CorrectionRequest, correct, linksOf } from './corrections.ts';
export { type EmitRequest, signProfile } from './emit.ts';
export type { RequestedPeriod } from './evidence/room.ts';
export { sweepRooms } from './evidence/sweep.ts';
export type { Issued } from './issue.ts';
export { issueTo, type ReceiptRequest, refuseUnpaid } from './issue-to.ts';
export { anchorOf, isAnchored, placeReceipt, withAnchor } from './key-effects.ts';
export type {
  ListedReceipt,
  ReceiptCount,
  ReceiptCounting,
  ReceiptFilters,
  ReceiptListStore,
  ReceiptPage,
  ScannedReceipt,
} from './listing/receipt-list.ts';
export { ReceiptListing } from './listing/receipt-listing.ts';
export type { ListedSession, SessionListStore, SessionPage } from './listing/session-list.ts';
export { evidenceSources, openIntake, signBill, takeAll } from './metering.ts';
export { LeafBudget, readMeteredLines } from './metering-lines.ts';
export { expiryOf, signEnvelope } from './mint.ts';
export { type OperatorFacts, ownOperation } from './operator-facts.ts';
export { ownTransaction } from './own-transaction.ts';
export { carriedNote, refuseUncarried } from './profile-members.ts';
export { METERING_PRICE, RECEIPT_PRICE, STEP_PRICE } from './receipt-payment.ts';
export type { GetOutcome, ReceiptOwner, ReceiptStore } from './receipt-store.ts';
export { keptReceipt, type PurgeStep, purgeExpired } from './retention.ts';
export { recommend, recommendedBy } from './rubric.ts';
export { sessionNotFound } from './sessions/find-place.ts';
export { issueStep, type StepRequest } from './sessions/issue-step.ts';
export { readSession } from './sessions/read-session.ts';
export type { KeptStep, SessionStore } from './sessions/session-store.ts';
export { settlementReceipts } from './settlement-receipt.ts';
export { receiptAnswer } from './stored-answer.ts';
export { openStream, requireStream, signDailyHeads, signHead } from './streams/heads.ts';
export { readHashes } from './streams/read-stream.ts';
export type { StreamHeadRow, StreamRound, StreamRow, StreamStore } from './streams/stream-store.ts';
export { Unstored } from './unstored.ts';
export {
  createVerificationQueue,
  type VerificationQueue,
  type VerificationSlot,
} from './verification-queue.ts';
export { withMembers } from './with-members.ts';
