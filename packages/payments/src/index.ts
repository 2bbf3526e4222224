export { type Destination, type DestinationFault, destinationOf, readContact } from './keys/contact.ts';
export { createKeySales, type KeySales, requireKeySecret } from './keys/issue.ts';
export { ANNUAL_PREPAY_MONTHS, type Months, priceOf, SOLD_TIERS, type SoldTier } from './keys/prices.ts';
export { openQuote, type QuoteRequest } from './keys/quote.ts';
export { openSealedKey } from './keys/sealed-key.ts';
export {
  type ChannelRow,
  PAYMENT_SECONDS,
  type PaymentRow,
  type PaymentState,
  type PaymentStep,
  type PaymentStore,
} from './payment-store.ts';
export { declinePayout, requestWithdrawal } from './payouts/request.ts';
export type { MailConfig, PaymentsConfig, SalesConfig } from './settings.ts';
export { NANO_PER_BASE_UNIT, toBaseUnits, toNanoUsdc } from './treasury/units.ts';
export { openTreasuryCommands } from './treasury-commands.ts';
export type {
  Cursor,
  EndedTransfer,
  OrderPaid,
  OrderRow,
  OrderStep,
  PayoutAttempt,
  PayoutKind,
  PayoutRow,
  PayoutState,
  Renewal,
  TransferEnding,
  TransferRow,
  TreasuryCursor,
  TreasuryMark,
  TreasuryStore,
  Watched,
} from './treasury-store.ts';
export {
  type OpenPayment,
  type PaymentResult,
  type Payments,
  type PricedOrder,
  paymentAccount,
} from './x402/payments.ts';
export { claimOf } from './x402/replay.ts';
export type { LateSettlement } from './x402/x402-context.ts';
