import type { Money } from '@tallystick/chain/evm';
import { devAccount } from '@tallystick/chain/evm';
import type { OwnIssuer } from '@tallystick/issuers';
import { createKeyedMutex } from '@tallystick/kit';
import type { LedgerStore } from '@tallystick/ledger';
import type { FacilitatorClient } from '@x402/core/server';
import { x402ResourceServer } from '@x402/core/server';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { UptoEvmScheme } from '@x402/evm/upto/server';
import type { Logger } from 'pino';
import type { PaymentStore } from '../payment-store.ts';
import { channelReader, seenBalances } from './channel-reader.ts';
import { channelStorage } from './channel-storage.ts';
import { collect } from './collect.ts';
import { httpFacilitator, localFacilitator } from './facilitator.ts';
import { charge } from './fixed.ts';
import { open } from './metered.ts';
import { offersOf } from './offers.ts';
import { ownerOf } from './owner.ts';
import { exactOf, voucherOf } from './payloads.ts';
import type { Payments } from './payments.ts';
import { claimOf } from './replay.ts';
import { sweep } from './sweep.ts';
import { readPayment } from './wire.ts';
import { refusal, requirementsFor, seconds, supported, type X402Context } from './x402-context.ts';

const TIMEOUT_MS = 30_000;
const EVERY_MS = 250;
/** The shortest and the longest time that the settlement contract lets a payer wait for a deposit, in seconds. */
const WITHDRAW_DELAYS = { least: 900, most: 30 * 86_400 };
/** Seconds in which a voucher is claimed after its call, with more than one attempt. */
const CLAIMED_SECONDS = 600;

export interface PaymentsOptions {
  readonly money: Money;
  readonly facilitatorUrl: string | null;
  readonly store: { readonly payments: PaymentStore; readonly ledger: LedgerStore };
  readonly issuer: OwnIssuer;
  /** The public URL of a path. */
  readonly urlOf: (path: string) => string;
  /** Milliseconds for which the chain is searched for a settlement that a facilitator reports. */
  readonly waitMs: number;
  readonly maxCallMs: number;
  /** Mints and stores the receipt of a settlement that followed its delivery. Resolves to the receipt's id. */
  readonly settlementReceipt: X402Context['settlementReceipt'];
  readonly clock: () => number;
  readonly logger: Logger;
}

/** Opens payments without a request. @throws unavailable where there is neither a facilitator's URL nor a development chain */
export function openPayments(options: PaymentsOptions): Payments {
  const x402 = x402ContextOf(options);
  const { chain, treasury, clock } = x402;
  const turns = createKeyedMutex();
  return {
    network: chain.network,
    chainId: options.money.chainId,
    asset: chain.usdc,
    treasury,
    schemes: () => supported(x402),
    offered({ incoming }) {
      const carried = readPayment(incoming);
      if (carried === null) return null;
      const { proof, payload, identifier } = carried;
      return {
        scheme: payload.accepted.scheme,
        payer: exactOf(payload)?.from ?? voucherOf(payload)?.payer ?? null,
        isNamed: identifier !== null,
        claim: (requestHash) => claimOf(proof, requestHash, seconds(clock)),
      };
    },
    charge(received, order) {
      const carried = readPayment(received.incoming);
      const work = () => charge(x402, received, order);
      // Of concurrent requests with one payment, the first takes it, and the others find it taken.
      return carried === null ? work() : turns(carried.proof, work);
    },
    open: (received, order, ceiling) => open(x402, received, order, ceiling),
    async required(order) {
      const { amount } = order;
      const requirements = await requirementsFor(x402, order, amount);
      return refusal(x402, { order, amount, requirements });
    },
    collect: () => collect(x402),
    sweep: () => sweep(x402),
    ownerOf: (transfer) => ownerOf(x402, transfer),
  };
}

function x402ContextOf(options: PaymentsOptions): X402Context {
  const { money, store, issuer, urlOf, waitMs, clock, logger, maxCallMs, settlementReceipt } = options;
  const facilitator = facilitatorOf(options);
  // A call is paid when it ends. Whoever asks for the deposit meanwhile gets it after that.
  const longest = Math.ceil(maxCallMs / 1000) + CLAIMED_SECONDS;
  const vouchers = new BatchSettlementEvmScheme(money.treasury, {
    storage: channelStorage(store.payments),
    withdrawDelay: Math.min(WITHDRAW_DELAYS.most, Math.max(WITHDRAW_DELAYS.least, longest)),
  });
  const channels = channelReader(money.rpcUrl, TIMEOUT_MS);
  const network = money.token.network;
  const server = new x402ResourceServer(facilitator)
    .register(network, new ExactEvmScheme())
    .register(network, new UptoEvmScheme())
    .register(network, vouchers);
  return {
    server,
    facilitator,
    vouchers,
    chain: money.token,
    channels,
    holds: seenBalances(channels, clock),
    store,
    offers: offersOf(issuer),
    treasury: money.treasury,
    urlOf,
    clock,
    logger,
    maxCallMs,
    settlementReceipt,
    seeMs: waitMs,
    everyMs: EVERY_MS,
  };
}

function facilitatorOf({ money, facilitatorUrl }: PaymentsOptions): FacilitatorClient {
  if (facilitatorUrl !== null) return httpFacilitator(facilitatorUrl, TIMEOUT_MS);
  const { rpcUrl, chainId } = money;
  return localFacilitator({ rpcUrl, chainId, account: devAccount('facilitator'), timeoutMs: TIMEOUT_MS });
}
