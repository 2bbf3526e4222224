export { callerAccount, DEVELOPMENT, providerAccount, REVENUE, X402 } from './accounts.ts';
export type { Claim, ClaimStore, TakeOutcome } from './claim-store.ts';
export { creditCaller } from './credit.ts';
export { type Claims, createClaims } from './idempotency-claims.ts';
export {
  type AccountBalance,
  type BalanceCheck,
  type CompressionIncrement,
  type CompressionTotals,
  type Dust,
  type Entry,
  isCallerAccount,
  type LedgerStore,
  type Member,
  type MethodTotal,
  type NanoUsdc,
  type Posting,
  type ReserveOutcome,
  type ReserveRequest,
  type Settlement,
  type SettleOutcome,
  type StatementLine,
  type UsageRow,
} from './ledger-store.ts';
export { LOW_BALANCE_HEADER, showLowBalance } from './low-balance.ts';
export { leaderboard, registerMember, verifyMember } from './members/members.ts';
export { type MemberTier, SPREAD_PERCENT, tierOf } from './members/tiers.ts';
export { formatUsdc, NANO_PER_USDC, parseUsdc } from './money.ts';
export { openProcessLease, type ProcessLease, returnHoldsOfTheDead } from './process-lease.ts';
