import type { TokenChain } from '@tallystick/chain/evm';
import { copyJson, type JsonObject, type JsonValue, TallyError } from '@tallystick/core';
import { type Received, Refusal, SCHEMES, type Scheme } from '@tallystick/kit';
import type { LedgerStore } from '@tallystick/ledger';
import { formatUsdc } from '@tallystick/ledger';
import {
  FacilitatorCapabilityError,
  type FacilitatorClient,
  type x402ResourceServer,
} from '@x402/core/server';
import type { PaymentPayload, PaymentRequirements, SettleResponse } from '@x402/core/types';
import type { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/server';
import { declarePaymentIdentifierExtension, PAYMENT_IDENTIFIER } from '@x402/extensions/payment-identifier';
import type { Logger } from 'pino';
import type { BaseUnits, PaymentStore } from '../payment-store.ts';
import { toNanoUsdc } from '../treasury/units.ts';
import type { ChannelReader } from './channel-reader.ts';
import type { Offers } from './offers.ts';
import { type Order } from './payments.ts';

/** What the payment code needs. */
export interface X402Context {
  readonly server: x402ResourceServer;
  readonly facilitator: FacilitatorClient;
  readonly vouchers: BatchSettlementEvmScheme;
  readonly chain: TokenChain;
  readonly channels: ChannelReader;
  /** Whether the deposits of a channel on the chain are at least `least`. */
  readonly holds: (channelId: string, least: BaseUnits) => Promise<boolean>;
  readonly store: { readonly payments: PaymentStore; readonly ledger: LedgerStore };
  readonly offers: Offers;
  /** Address, EIP-55. */
  readonly treasury: `0x${string}`;
  /** The public URL of a path. */
  readonly urlOf: (path: string) => string;
  readonly clock: () => number;
  readonly logger: Logger;
  /** Mints and stores the receipt of a settlement that followed its delivery. Resolves to the receipt's id. */
  readonly settlementReceipt: (settled: LateSettlement) => Promise<string>;
  /** How long what a facilitator says is looked for on the chain, and how often. */
  readonly seeMs: number;
  readonly everyMs: number;
  /** The longest time that a call may take. */
  readonly maxCallMs: number;
}

/** A settlement that follows its delivery. */
export interface LateSettlement {
  readonly paymentId: string;
  readonly receiptId: string | null;
  readonly tx: string;
  readonly amount: BaseUnits;
  readonly payer: string;
}

/** Seconds after its offer within which a payment must be made; a place in a channel is kept as long. */
const TIMEOUT_SECONDS = 300;
/** The longest time in seconds for which the schemes keep a place. */
const MAX_TIMEOUT_SECONDS = 600;

/**
 * The schemes that the facilitator supports; asks it if that is not known yet.
 * @throws unavailable where it cannot be reached
 */
export async function supported(x402: X402Context): Promise<Scheme[]> {
  const known = (scheme: Scheme) => isUsable(x402, scheme);
  if (!SCHEMES.some(known)) {
    await x402.server.initialize().catch((error: unknown) => {
      // A facilitator that supports one scheme only in part is used for the others.
      if (!(error instanceof FacilitatorCapabilityError)) throw unreachable(x402, error);
    });
  }
  return SCHEMES.filter(known);
}

/** Vouchers are claimed with a signature of the facilitator's authorizer, and are worth nothing without one. */
function isUsable({ server, chain }: X402Context, scheme: Scheme): boolean {
  const kind = server.getSupportedKind(2, chain.network, scheme);
  if (kind === undefined || scheme !== 'batch-settlement') return kind !== undefined;
  const { receiverAuthorizer } = kind.extra ?? {};
  return typeof receiverAuthorizer === 'string' && BigInt(receiverAuthorizer) !== 0n;
}

/** Why the facilitator refuses a payment; null where it does not. @throws unavailable where it cannot be reached */
export async function verified(
  x402: X402Context,
  payload: PaymentPayload,
  accepted: PaymentRequirements,
): Promise<string | null> {
  try {
    const { isValid, invalidReason } = await x402.server.verifyPayment(payload, accepted);
    return isValid ? null : (invalidReason ?? 'invalid_payment');
  } catch (error) {
    throw unreachable(x402, error);
  }
}

function unreachable({ logger }: X402Context, cause: unknown): TallyError {
  logger.error({ err: cause }, 'the facilitator can’t be asked');
  return new TallyError(
    'unavailable',
    'Payments can’t be checked at the moment. Try again; nothing was taken.',
    {
      cause,
    },
  );
}

/** One requirement for each supported scheme of the order, in the order's sequence. */
export async function requirementsFor(
  x402: X402Context,
  order: Order,
  amount: BaseUnits,
): Promise<PaymentRequirements[]> {
  const { server, chain, treasury, maxCallMs } = x402;
  const usable = await supported(x402);
  const domain = await chain.domain();
  const lasts = Math.min(MAX_TIMEOUT_SECONDS, Math.max(TIMEOUT_SECONDS, Math.ceil(maxCallMs / 1000) + 60));
  const made = order.schemes
    .filter((scheme) => usable.includes(scheme))
    .map((scheme) =>
      server.buildPaymentRequirements({
        scheme,
        network: chain.network,
        payTo: treasury,
        price: { amount: String(amount), asset: chain.usdc, extra: { ...domain } },
        maxTimeoutSeconds: scheme === 'exact' ? TIMEOUT_SECONDS : lasts,
      }),
    );
  return (await Promise.all(made)).flat();
}

/** Why a payment is refused, with x402's own reason if there is one. */
export interface Unpaid {
  readonly order: Order;
  readonly amount: BaseUnits;
  readonly requirements: readonly PaymentRequirements[];
  /** Absent where no payment came. */
  readonly reason?: string | undefined;
  readonly payload?: PaymentPayload | undefined;
}

/** The refusal of a request, with how to pay. */
export async function refusal(
  x402: X402Context,
  { order, amount, requirements, reason, payload }: Unpaid,
): Promise<Refusal> {
  const url = x402.urlOf(order.path);
  const document = await x402.server.createPaymentRequiredResponse(
    [...requirements],
    { url, description: order.description, mimeType: 'application/json' },
    reason ?? 'PAYMENT-SIGNATURE header is required',
    { [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension(false) },
    undefined,
    payload,
  );
  const offers = await x402.offers.offers(url, document.accepts);
  const extensions = { ...document.extensions, [x402.offers.key]: offers };
  const payment = plain({ ...document, extensions });
  const price = formatUsdc(toNanoUsdc(amount));
  const what = reason === undefined ? 'This costs' : `The payment is not valid (${reason}). This costs`;
  return new Refusal(
    'payment_required',
    `${what} up to ${price} USDC: pay by x402 (PAYMENT-REQUIRED says how)${order.otherwise ?? OTHERWISE}.`,
    { payment },
  );
}

/** Notes for the response how the payment was settled, with x402's receipt. */
export async function respond(
  x402: X402Context,
  { incoming }: Received,
  order: Pick<Order, 'path'>,
  settled: SettleResponse & { readonly payer: string },
): Promise<JsonObject> {
  const { payer, network, transaction } = settled;
  const receipt = await x402.offers.receipt(x402.urlOf(order.path), {
    payer,
    network,
    transaction: transaction === '' ? null : transaction,
  });
  const document = plain({ ...settled, extensions: { [x402.offers.key]: receipt } });
  incoming.note({ kind: 'payment_settled', document });
  return document;
}

/** How else most orders can be paid, for the text of a refusal. */
const OTHERWISE = ', or send an API key, or X-Agent-DID proved by a signature, with a balance';

function plain(value: unknown): JsonObject {
  return copyJson(JSON.parse(JSON.stringify(value)) as JsonValue) as JsonObject;
}

export function seconds(clock: () => number): number {
  return Math.floor(clock() / 1000);
}
