import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest';
import type { OrderRow } from '../../payments/src/treasury-store.ts';
import { hashOf } from './hashes.ts';
import { type KeyHook, type Mailbox, openKeyHook, openMailbox } from './key-receivers.ts';
import type { TestService } from './service.ts';
import {
  endOf,
  NETWORK,
  startPaidService,
  startTreasuryChain,
  type TransferEnd,
  type TreasuryChain,
  watch,
} from './treasury.ts';

/** What a Pro key costs a month, in base units. */
export const PRO = 29_000_000n;

/** A chain, a mailbox and a domain for a file of tests, and services that end with each test. */
export function useKeySales() {
  let chain: TreasuryChain;
  let mailbox: Mailbox;
  let hook: KeyHook;
  let service: TestService;
  const services: TestService[] = [];

  beforeAll(async () => {
    chain = await startTreasuryChain();
    mailbox = await openMailbox();
    hook = await openKeyHook();
  });
  afterAll(async () => {
    await Promise.all([chain.anvil.stop(), mailbox.close(), hook.close()]);
  });
  // A service watches and delivers when a test says so, and never between two of its steps.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(async () => {
    mailbox.accepts(true);
    for (const one of services.splice(0)) await one.close();
    vi.useRealTimers();
  });

  const balanceOf = async (account: string): Promise<bigint> =>
    (await service.services.store.ledger.balance(account)).balance;

  return {
    get chain() {
      return chain;
    },
    get mailbox() {
      return mailbox;
    },
    get hook() {
      return hook;
    },
    /** The one that was started last. */
    get service() {
      return service;
    },
    /** Closed after the test, in this order. */
    services,
    start: async (options: Parameters<typeof startPaidService>[1] = {}): Promise<TestService> => {
      const env = { ...mailbox.env, ...options.env };
      service = await startPaidService(chain, { ...options, env });
      services.push(service);
      return service;
    },
    /** How a transfer has ended, once the treasury was looked at. */
    settled: async (txHash: string): Promise<TransferEnd> => {
      await watch(service);
      const end = await endOf(service, txHash);
      if (end === undefined) throw new Error('The transfer has not ended.');
      return end;
    },
    /** The newest, oldest first. */
    orders: async (): Promise<OrderRow[]> =>
      (await service.services.store.treasury.newestOrders(99)).toReversed(),
    deliver: (): Promise<void> => service.services.treasury?.deliver() ?? Promise.resolve(),
    /** The status of an anchoring with the key. */
    works: async (key: string): Promise<number> => {
      const headers = { authorization: `Bearer ${key}` };
      return (await service.post('/v1/anchor', { canonical_sha256: hashOf(key) }, headers)).status;
    },
    balanceOf,
    /** Beside what the treasury held before. */
    received: async (): Promise<bigint> =>
      -(await balanceOf(`chain:${NETWORK}`)) - (await balanceOf('owner')),
    expectBalancedBooks: async (): Promise<void> => {
      expect(await service.services.store.ledger.checkBalanced()).toMatchObject({ sum: 0n, faults: [] });
    },
  };
}
