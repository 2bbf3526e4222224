import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Money } from '../packages/chain/src/token/open.ts';
import { reconcile } from '../packages/payments/src/treasury/reconcile.ts';
import type { Payments } from '../packages/payments/src/x402/payments.ts';
import { type Routed, startRouted } from '../packages/server/test/compute.ts';
import { runningClock, type TestClock } from '../packages/server/test/service.ts';
import { tally, temporaryFolder } from './process.ts';

/** The whole service with payments on, with its own chain and port, in front of a model provider. */
export interface PaidService extends Routed {
  readonly money: Money;
  readonly payments: Payments;
  readonly clock: TestClock;
  /** Balance of an address on the chain, in base units of USDC. */
  usdc(address: string): Promise<bigint>;
  /** Asserts that ledger and chain agree, in each transfer and in their sums, and that the books balance. */
  expectLedgerIsChain(): Promise<void>;
}

export async function startPaidService(env: Readonly<Record<string, string>> = {}): Promise<PaidService> {
  const clock = runningClock();
  const routed = await startRouted({
    clock,
    env: { TALLY_DEVNET: 'on', TALLY_PAYMENTS: 'x402', TALLY_X402_WAIT_SECONDS: '5', ...env },
  });
  const money = (): Money => required(routed.service.services.money);
  const usdc = (address: string): Promise<bigint> => money().token.balanceOf(address);
  return {
    ...routed,
    clock,
    get money() {
      return money();
    },
    get payments() {
      return required(routed.service.services.payments);
    },
    usdc,
    async expectLedgerIsChain() {
      const { store } = routed.service.services;
      const { token, treasury } = money();
      const { balance } = await store.ledger.balance(`chain:${token.network}`);
      expect(-balance, 'the ledger, in nano-USDC').toBe((await usdc(treasury)) * 1_000n);
      expect(await reconcile({ store, token, treasury })).toMatchObject({ differences: [] });
      expect(await store.ledger.checkBalanced()).toMatchObject({ sum: 0n, faults: [] });
    },
  };
}

function required<T>(value: T | null): T {
  if (value === null) throw new Error('Payments are off.');
  return value;
}

/** Asserts that `tally verify` finds the transaction that a receipt (JSON text) names, and that it paid the stated amount. */
export async function expectVerifiedByRpc({ url, money }: PaidService, receipt: string): Promise<void> {
  const folder = temporaryFolder();
  const bundle = await (await fetch(`${url}/.well-known/trust.json`)).text();
  writeFileSync(join(folder, 'bundle.json'), bundle);
  writeFileSync(join(folder, 'receipt.json'), receipt);
  const files = [join(folder, 'receipt.json'), '--trust', join(folder, 'bundle.json')];
  const { code, stdout } = await tally(['verify', ...files, '--rpc', money.rpcUrl, '--json'], {
    TALLY_HOME: folder,
  });
  expect(code, stdout).toBe(0);
  const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean | null }[] };
  expect(checks).toContainEqual(expect.objectContaining({ name: 'settlement_transaction', ok: true }));
}
