export { callerAccount, DEVELOPMENT, providerAccount, REVENUE, tenantAccount, X402 } from './accounts.ts';
export type { Claim, ClaimStore, TakeOutcome } from './claim-store.ts';
export { creditCaller } from './credit.ts';
export { firstLineSince } from './first-line.ts';
export { type Claims, createClaims } from './idempotency-claims.ts';
export type {
  AccountBalance,
  BalanceCheck,
  CompressionIncrement,
  CompressionTotals,
  Dust,
  Entry,
  LedgerPosting,
  LedgerStore,
  Limited,
  Member,
  MethodTotal,
  NanoUsdc,
  ReserveOutcome,
  ReserveRequest,
  Settlement,
  SettleOutcome,
  StatementLine,
  UsageRow,
} from './ledger-store.ts';
export { LOW_BALANCE_HEADER, showLowBalance } from './low-balance.ts';
export { isDidOfSomebody, leaderboard, registerMember, verifyMember } from './members/members.ts';
export { type MemberTier, SPREAD_PERCENT, tierOf } from './members/tiers.ts';
export { formatUsdc, NANO_PER_USDC, parseUsdc } from './money.ts';
export { openProcessLease, type ProcessLease, returnHoldsOfTheDead } from './process-lease.ts';
export {
  type SpenderLimits,
  type Spending,
  type SpendingWindow,
  spendingPeriods,
} from './spending.ts';
