import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toHex } from '@tallystick/core';
import { encodeFunctionData, getAddress, hexToBytes, keccak256 } from 'viem/utils';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { devAccount, devSecretKey } from '../../chain/src/token/dev-accounts.ts';
import { DEV_USDC } from '../../chain/src/token/dev-token.ts';
import { openTokenChain } from '../../chain/src/token/token.ts';
import { USDC_ABI } from '../../chain/src/token/usdc.ts';
import { createPayoutFollower } from '../../payments/src/payouts/follow.ts';
import { payOut } from '../../payments/src/payouts/pay.ts';
import { declinePayout, requestWithdrawal } from '../../payments/src/payouts/request.ts';
import { openWallet, type Wallet } from '../../payments/src/payouts/wallet.ts';
import { openTreasuryCommands, type TreasuryCommands } from '../../payments/src/treasury-commands.ts';
import type { PayoutRow } from '../../payments/src/treasury-store.ts';
import { openSqliteStore } from '../../store/src/sqlite.ts';
import { collect } from '../../store/test/test-database.ts';
import type { TestService } from './service.ts';
import { NETWORK, startPaidService, startTreasuryChain, type TreasuryChain, watch } from './treasury.ts';

const DID = 'did:web:agent.example';
const USDC = 1_000_000_000n;

let chain: TreasuryChain;
let service: TestService;
let desk: TreasuryCommands;
let wallet: Wallet;

beforeAll(async () => {
  chain = await startTreasuryChain();
});
afterAll(() => chain.anvil.stop());
beforeEach(async () => {
  service = await startPaidService(chain);
  // Its timers would post, send and end things between the steps of a test.
  await service.services.treasury?.close();
  const treasuryKeyFile = join(service.config.dataDir, 'treasury.key');
  writeFileSync(treasuryKeyFile, devSecretKey('treasury'), { mode: 0o600 });
  const { config } = service;
  desk = await openTreasuryCommands(
    { ...config, sales: { ...config.sales, treasuryKeyFile } },
    service.services.store,
  );
  wallet = openTestWallet();
  await chain.pay(50_000_000n, `account=${DID}`);
  await watch(service);
});
afterEach(() => service.close());

const place = () => ({ rpcUrl: chain.anvil.rpcUrl, chainId: 31_337, confirmations: 1, timeoutMs: 60_000 });
const token = () => openTokenChain({ ...place(), usdc: DEV_USDC });

function openTestWallet(): Wallet {
  return openWallet({ ...place(), usdc: DEV_USDC, secretKey: hexToBytes(devSecretKey('treasury')) });
}

const means = (with_: Wallet = wallet) => ({
  store: service.services.store,
  wallet: with_,
  token: token(),
  treasury: chain.treasury,
  clock: service.clock,
});

/** A withdrawal to an address of its own, which holds nothing yet. */
async function request(
  amount: bigint,
  place: Partial<Pick<PayoutRow, 'network' | 'address'>> = {},
): Promise<PayoutRow> {
  return requestWithdrawal(service.services.store, {
    did: DID,
    network: NETWORK,
    address: `0x${toHex(randomBytes(20))}`,
    ...place,
    amount,
    minimum: USDC,
    idempotency: undefined,
    now: service.clock(),
  });
}

const holds = (address: string): Promise<bigint> => token().balanceOf(address);
const stored = async ({ id }: PayoutRow): Promise<PayoutRow | null> =>
  service.services.store.treasury.payout(id);

/** Until nothing is under way: the node answers a broadcast before it has mined the block. */
async function followed(follow: () => Promise<void> | undefined = () => desk.follow()): Promise<void> {
  const { treasury } = service.services.store;
  do await follow();
  while ((await treasury.payoutsUnderWay(NETWORK)).length > 0);
}

async function expectBooksOfChain(): Promise<void> {
  expect(await desk.reconcile()).toMatchObject({ differences: [], pending: 0n });
  expect(await service.services.store.ledger.checkBalanced()).toMatchObject({ sum: 0n, faults: [] });
}

async function aside(account = 'withdrawals'): Promise<bigint> {
  return (await service.services.store.ledger.balance(account)).balance;
}

/** A transaction of the treasury's own hand. */
async function byHand(
  nonce: number,
  amount: bigint,
  to: string = devAccount('bob').address,
): Promise<string> {
  const data = encodeFunctionData({
    abi: USDC_ABI,
    functionName: 'transfer',
    args: [getAddress(to), amount],
  });
  const fees = { gas: 100_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n };
  const raw = await devAccount('treasury').signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    nonce,
    to: DEV_USDC,
    data,
    ...fees,
  });
  await chain.send(raw);
  return keccak256(raw);
}

describe('a payout', () => {
  it('moves exactly its amount, and is booked out once it is confirmed', async () => {
    const [one, two] = [await request(2n * USDC), await request(3n * USDC)];
    const outcomes = await desk.pay([one, two]);
    expect(outcomes.map(({ problem }) => problem)).toEqual([null, null]);
    expect(await aside()).toBe(5n * USDC);
    await followed();
    expect([await holds(one.address), await holds(two.address)]).toEqual([2_000_000n, 3_000_000n]);
    expect(await stored(one)).toMatchObject({ state: 'paid', txHash: outcomes[0]?.txHash });
    expect(await aside()).toBe(0n);
    await expectBooksOfChain();
    await expect(desk.pay([one])).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('that was stored and not sent by a process that died is sent by the next one, once', async () => {
    const payout = await request(2n * USDC);
    const dead = { ...wallet, broadcast: () => Promise.reject(new Error('died')) };
    await expect(payOut(means(dead), [payout])).rejects.toThrow('died');
    expect(await stored(payout)).toMatchObject({ state: 'paying' });
    expect(await holds(payout.address)).toBe(0n);
    await desk.pay([payout]);
    await followed();
    await desk.pay([await request(USDC)]);
    await followed(() => service.services.treasury?.follow());
    expect(await holds(payout.address)).toBe(2_000_000n);
    await expectBooksOfChain();
  });

  it('has a nonce that none has which was stored before it, though nothing was sent', async () => {
    const [one, two] = [await request(USDC), await request(2n * USDC)];
    const dead = { ...wallet, broadcast: () => Promise.reject(new Error('died')) };
    for (const payout of [one, two]) await expect(payOut(means(dead), [payout])).rejects.toThrow('died');
    await desk.pay([two, one]);
    await followed();
    expect([await holds(one.address), await holds(two.address)]).toEqual([1_000_000n, 2_000_000n]);
    await expectBooksOfChain();
  });

  it('that was sent by a process that died is found by a server, without a key', async () => {
    const payout = await request(2n * USDC);
    const dying = {
      ...wallet,
      broadcast: async (raw: string) => {
        await wallet.broadcast(raw);
        throw new Error('died');
      },
    };
    await expect(payOut(means(dying), [payout])).rejects.toThrow('died');
    await followed(() => service.services.treasury?.follow());
    expect(await stored(payout)).toMatchObject({ state: 'paid' });
    expect(await holds(payout.address)).toBe(2_000_000n);
    await expectBooksOfChain();
  });

  it('is paid once by two operators at once', async () => {
    const payouts = [await request(USDC), await request(USDC), await request(USDC)];
    await Promise.all([payOut(means(), payouts), payOut(means(openTestWallet()), payouts)]);
    await followed();
    for (const { address } of payouts) expect(await holds(address)).toBe(1_000_000n);
    const nonces = (await Promise.all(payouts.map(stored))).map((row) => row?.nonce);
    expect(new Set(nonces).size).toBe(3);
    await expectBooksOfChain();
  });

  it('that waits for a block is sent again for more, with the same nonce', async () => {
    const payout = await request(2n * USDC);
    const { treasury } = service.services.store;
    await chain.together(async () => {
      await desk.pay([payout]);
      service.clock.advance(61_000);
      await payOut(means(), [payout]);
    });
    const [first, second] = await treasury.payoutAttempts(payout.id);
    expect(second?.nonce).toBe(first?.nonce);
    expect(BigInt(second?.maxFeePerGas ?? 0)).toBeGreaterThan(BigInt(first?.maxFeePerGas ?? 0));
    await followed(() => service.services.treasury?.follow());
    expect(await stored(payout)).toMatchObject({ state: 'paid', txHash: second?.txHash });
    expect(await holds(payout.address)).toBe(2_000_000n);
    await expectBooksOfChain();
  });

  it('whose nonce another transaction used waits again, and only after a while', async () => {
    const payout = await request(2n * USDC);
    const dead = { ...wallet, broadcast: () => Promise.reject(new Error('died')) };
    await expect(payOut(means(dead), [payout])).rejects.toThrow('died');
    const tx = await byHand((await stored(payout))?.nonce ?? 0, 1n);
    const follower = createPayoutFollower({
      store: service.services.store,
      chain: wallet,
      network: NETWORK,
      clock: service.clock,
      logger: service.services.logger,
      patience: 60,
    });
    await follower.step();
    expect(await stored(payout)).toMatchObject({ state: 'paying' });
    service.clock.advance(61_000);
    await follower.step();
    expect(await stored(payout)).toMatchObject({ state: 'waiting', note: expect.stringMatching(/nonce/) });
    expect(await desk.reconcile()).toMatchObject({
      differences: [{ kind: 'unposted_transfer', txHash: tx, onChain: -1n, inLedger: 0n }],
    });
    await expect(desk.pay([payout])).rejects.toMatchObject({ code: 'unavailable' });
    await desk.bookOwn(tx);
    await desk.pay([payout]);
    await followed();
    expect(await holds(payout.address)).toBe(2_000_000n);
    await expectBooksOfChain();
  });

  it('whose transaction fails on the chain waits again, and its money stays put aside', async () => {
    const payout = await request(2n * USDC);
    const code = await chain.anvil.rpc('eth_getCode', DEV_USDC, 'latest');
    await chain.together(async () => {
      await desk.pay([payout]);
      await chain.anvil.rpc('anvil_setCode', DEV_USDC, '0xfe');
    });
    await followed();
    await chain.anvil.rpc('anvil_setCode', DEV_USDC, code);
    expect(await stored(payout)).toMatchObject({ state: 'waiting', note: expect.stringMatching(/failed/) });
    expect(await aside()).toBe(2n * USDC);
    await desk.pay([payout]);
    await followed();
    expect(await holds(payout.address)).toBe(2_000_000n);
    await expectBooksOfChain();
  });

  it('that the chain would refuse keeps none of those behind it from being paid', async () => {
    const refused = await request(2n * USDC, { address: `0x${'0'.repeat(40)}` });
    const good = await request(3n * USDC);
    const outcomes = await desk.pay([refused, good]);
    expect(outcomes).toEqual([
      { id: refused.id, txHash: null, problem: expect.stringMatching(/eth_estimateGas.*[^.]$/) },
      { id: good.id, txHash: expect.stringMatching(/^0x/), problem: null },
    ]);
    await followed();
    expect(await holds(good.address)).toBe(3_000_000n);
    expect(await stored(refused)).toMatchObject({ state: 'waiting', nonce: null });
    await expectBooksOfChain();
  });

  it('is paid on its own network alone, and booked by none of another’s transactions', async () => {
    const elsewhere = await request(2n * USDC, { network: 'eip155:84532' });
    const [outcome] = await desk.pay([elsewhere]);
    expect(outcome).toMatchObject({ txHash: null, problem: expect.stringContaining('eip155:84532') });
    expect(await stored(elsewhere)).toMatchObject({ state: 'waiting', nonce: null });
    expect(await holds(elsewhere.address)).toBe(0n);
    const same = { ...elsewhere, address: devAccount('bob').address.toLowerCase() };
    const tx = await byHand(await wallet.nonceAt(wallet.address, 'latest'), 2_000_000n);
    await expect(desk.bookPaid(same, tx)).rejects.toMatchObject({ code: 'invalid_field' });
    await desk.bookOwn(tx);
    await expectBooksOfChain();
  });

  it('is not begun where the treasury holds too little, or the key is another', async () => {
    const payout = await request(2n * USDC);
    const poor = { ...token(), balanceOf: async () => 1_999_999n };
    await expect(payOut({ ...means(), token: poor }, [payout])).rejects.toMatchObject({
      code: 'insufficient_balance',
    });
    const other = openWallet({ ...place(), usdc: DEV_USDC, secretKey: hexToBytes(devSecretKey('bob')) });
    await expect(payOut(means(other), [payout])).rejects.toMatchObject({ code: 'invalid_field' });
    expect(await stored(payout)).toMatchObject({ state: 'waiting', nonce: null });
  });

  it('is not paid again from books that were restored from a backup', async () => {
    const payout = await request(2n * USDC);
    const backup = join(service.config.dataDir, 'backup.db');
    await service.services.store.backup(backup);
    await desk.pay([payout]);
    await followed();
    const restored = await openSqliteStore(backup);
    const { config } = service;
    const treasuryKeyFile = join(config.dataDir, 'treasury.key');
    const later = await openTreasuryCommands(
      { ...config, sales: { ...config.sales, treasuryKeyFile } },
      restored,
    );
    await expect(later.pay([payout])).rejects.toMatchObject({ code: 'unavailable' });
    const [unknown] = (await later.reconcile()).differences;
    const other = { ...payout, address: devAccount('bob').address.toLowerCase() };
    const txHash = unknown?.txHash ?? '';
    await expect(later.bookPaid(other, txHash)).rejects.toMatchObject({ code: 'invalid_field' });
    await later.bookPaid(payout, txHash);
    await expect(later.bookPaid(payout, txHash)).rejects.toMatchObject({ code: 'invalid_field' });
    expect(await later.reconcile()).toMatchObject({ differences: [] });
    expect(await restored.treasury.payout(payout.id)).toMatchObject({ state: 'paid', txHash });
    await restored.close();
    expect(await holds(payout.address)).toBe(2_000_000n);
  });

  it('is not paid again from books that lack it, though its transaction is not confirmed yet', async () => {
    const payout = await request(2n * USDC);
    const backup = join(service.config.dataDir, 'backup.db');
    await service.services.store.backup(backup);
    await desk.pay([payout]);
    while ((await holds(payout.address)) === 0n);
    const restored = await openSqliteStore(backup);
    onTestFinished(() => restored.close());
    const { config } = service;
    const treasuryKeyFile = join(config.dataDir, 'treasury.key');
    const patient = {
      ...config,
      payments: { ...config.payments, confirmations: 3 },
      sales: { ...config.sales, treasuryKeyFile },
    };
    const later = await openTreasuryCommands(patient, restored);
    await expect(later.pay([payout])).rejects.toMatchObject({ code: 'unavailable' });
    expect(await later.reconcile()).toMatchObject({ differences: [], pending: -2_000_000n });
    expect(await restored.treasury.payout(payout.id)).toMatchObject({ state: 'waiting', nonce: null });
    expect(await holds(payout.address)).toBe(2_000_000n);
  });

  it('is not paid again from books that lack it, though its transaction is in no block yet', async () => {
    const [first, second] = [await request(2n * USDC), await request(3n * USDC)];
    const backup = join(service.config.dataDir, 'backup.db');
    await service.services.store.backup(backup);
    const restored = await openSqliteStore(backup);
    onTestFinished(() => restored.close());
    const dearer: Wallet = {
      ...wallet,
      fees: async (transfer) => {
        const fees = await wallet.fees(transfer);
        const { maxFeePerGas, maxPriorityFeePerGas } = fees;
        return {
          ...fees,
          maxFeePerGas: 2n * maxFeePerGas,
          maxPriorityFeePerGas: 2n * maxPriorityFeePerGas,
        };
      },
    };
    await chain.together(async () => {
      await desk.pay([first, second]);
      // In place of the first transaction this would pay the second payout, which the second transaction pays too.
      await expect(payOut({ ...means(dearer), store: restored }, [second])).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(
          /wait for a block and are not in the books, with the nonces \d+ to \d+/,
        ),
      });
    });
    await followed();
    expect(await restored.treasury.payout(second.id)).toMatchObject({ state: 'waiting', nonce: null });
    expect([await holds(first.address), await holds(second.address)]).toEqual([2_000_000n, 3_000_000n]);
    await expectBooksOfChain();
  });

  it('that is rejected goes back to its balance, once', async () => {
    const { store } = service.services;
    const payout = await request(2n * USDC);
    const before = await aside(`caller:${DID}`);
    await declinePayout(store, payout, 'no', service.clock());
    expect(await aside(`caller:${DID}`)).toBe(before + 2n * USDC);
    await expect(declinePayout(store, payout, 'no', service.clock())).rejects.toMatchObject({
      code: 'unavailable',
    });
    await expect(desk.pay([payout])).rejects.toMatchObject({ code: 'unavailable' });
    await expectBooksOfChain();
  });

  it('that is under way can’t be rejected', async () => {
    const payout = await request(2n * USDC);
    await desk.pay([payout]);
    await expect(declinePayout(service.services.store, payout, 'no', service.clock())).rejects.toMatchObject({
      code: 'unavailable',
    });
    await followed();
    expect(await stored(payout)).toMatchObject({ state: 'paid' });
  });
});

describe('a refund', () => {
  it('goes back to who paid, or is kept when it is dismissed', async () => {
    const { store } = service.services;
    await chain.pay(7_000_000n, '', 'bob');
    await chain.pay(3n, 'hello', 'bob');
    await watch(service);
    const refunds = await collect(store.treasury.listOpenPayouts('refund'));
    const [small, large] = refunds.sort((a, b) => Number(a.amount - b.amount));
    if (large === undefined || small === undefined) throw new Error('There are no refunds.');
    expect(await aside('refunds')).toBe(7_000_003_000n);
    const bob = devAccount('bob').address;
    const before = await holds(bob);
    await desk.pay([large]);
    await followed();
    expect(await holds(bob)).toBe(before + 7_000_000n);
    await declinePayout(store, small, 'dust', service.clock());
    expect(await aside('refunds')).toBe(0n);
    expect(await aside('revenue')).toBe(3_000n);
    await expectBooksOfChain();
  });
});

describe('reconciling', () => {
  it('names what the ledger lacks, what the chain lacks, and what differs', async () => {
    const { ledger } = service.services.store;
    const tx = await chain.pay(5_000_000n, `account=${DID}`);
    expect(await desk.reconcile()).toMatchObject({
      differences: [{ kind: 'unposted_transfer', txHash: tx, onChain: 5_000_000n, inLedger: 0n }],
    });
    const post = (id: string, amount: bigint) =>
      ledger.post({
        id,
        memo: 'by hand',
        at: 1,
        entries: [
          { account: `chain:${NETWORK}`, amount: -amount },
          { account: 'revenue', amount },
        ],
      });
    await post(`transfer:${NETWORK}:${tx}:0`, 4_000_000_000n);
    await post('invented', 1_000_000_000n);
    expect((await desk.reconcile()).differences).toEqual([
      {
        kind: 'amount_differs',
        txHash: tx,
        posting: `transfer:${NETWORK}:${tx}:0`,
        onChain: 5_000_000n,
        inLedger: 4_000_000n,
      },
      {
        kind: 'posting_without_transfer',
        txHash: null,
        posting: 'invented',
        onChain: 0n,
        inLedger: 1_000_000n,
      },
    ]);
  });

  it('goes on with another treasury, beside the one that was watched before', async () => {
    const treasury = devAccount('facilitator').address;
    const env = { TALLY_DATA_DIR: service.config.dataDir, TALLY_TREASURY: treasury };
    const moved = await startPaidService(chain, { env });
    const next = await openTreasuryCommands(moved.config, moved.services.store);
    expect(await next.reconcile()).toMatchObject({ differences: [], treasuries: { length: 2 } });
    await moved.services.close();
  });

  it('takes what an earlier treasury sends to the next one for nobody’s payment', async () => {
    const treasury = devAccount('facilitator').address;
    const env = { TALLY_DATA_DIR: service.config.dataDir, TALLY_TREASURY: treasury };
    const moved = await startPaidService(chain, { env });
    onTestFinished(() => moved.services.close());
    await byHand(await wallet.nonceAt(wallet.address, 'latest'), 40_000_000n, treasury);
    await watch(moved);
    expect(await holds(treasury)).toBeGreaterThanOrEqual(40_000_000n);
    const { store } = moved.services;
    expect(await collect(store.treasury.listOpenPayouts('refund'))).toEqual([]);
    const next = await openTreasuryCommands(moved.config, store);
    expect(await next.reconcile()).toMatchObject({ differences: [], pending: 0n });
  });

  it('counts what is not confirmed yet as pending', async () => {
    const { config } = service;
    const patient = { ...config, payments: { ...config.payments, confirmations: 3 } };
    const other = await openTreasuryCommands(patient, service.services.store);
    await chain.pay(5_000_000n, `account=${DID}`);
    expect(await other.reconcile()).toMatchObject({ pending: 5_000_000n, differences: [] });
  });
});
