import { encodeFunctionData, getAddress, numberToHex } from 'viem/utils';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { devAccount } from '../../chain/src/token/dev-accounts.ts';
import { DEV_USDC } from '../../chain/src/token/dev-token.ts';
import { openTokenChain } from '../../chain/src/token/token.ts';
import { USDC_ABI } from '../../chain/src/token/usdc.ts';
import { paidPosting, requestPosting } from '../../payments/src/payouts/postings.ts';
import { chainAccount, ownId } from '../../payments/src/treasury/accounts.ts';
import { reconcile, requireKnownPayments } from '../../payments/src/treasury/reconcile.ts';
import { type PayoutRow, UNPAID } from '../../payments/src/treasury-store.ts';
import { NETWORK, startTreasuryChain, type TreasuryChain } from '../../server/test/treasury.ts';
import { sendUsdc } from '../../server/test/usdc.ts';
import type { Store } from '../src/store.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

/** Together as many transfers as fill several pages of postings. Mining takes long, so there are two ranges of blocks. */
const IN_A_RANGE = 250;
const BLOCKS_IN_A_RANGE = 1_000;
const PAID_OUT = 3n;
const BY_HAND = 2n;
const AT = 1_800_000_000;
const GAS = numberToHex(150_000);

interface Range {
  /** Transactions that pay the treasury 1, 2, 3, … base units. */
  readonly incoming: readonly string[];
  /** The transaction of a payout. */
  readonly payout: string;
}

/** The books are compared with the chain on every adapter, over more than is read at once. */
export function reconcileSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} compares the books with the chain`, () => {
    const { open } = useDatabase(createDatabase);
    const bob = devAccount('bob').address.toLowerCase();
    let chain: TreasuryChain;
    let first: string;
    let early: Range;
    let late: Range;
    let byHand: string;

    beforeAll(async () => {
      chain = await startTreasuryChain();
      const { rpcUrl } = chain.anvil;
      const payOut = (amount: bigint) => sendUsdc(rpcUrl, 'treasury', { to: bob, amount });
      first = await chain.pay(1_000n);
      byHand = await payOut(BY_HAND);
      early = { incoming: await payMany(chain), payout: await payOut(PAID_OUT) };
      await chain.mine(BLOCKS_IN_A_RANGE);
      late = { incoming: await payMany(chain), payout: await payOut(PAID_OUT) };
    }, 120_000);
    afterAll(() => chain.anvil.stop());

    const token = () =>
      openTokenChain({
        rpcUrl: chain.anvil.rpcUrl,
        chainId: 31_337,
        usdc: DEV_USDC,
        confirmations: 1,
        timeoutMs: 60_000,
      });
    const posting = (id: string, amount: bigint) => ({
      id,
      memo: '',
      at: AT,
      entries: [
        { account: chainAccount(NETWORK), amount: -amount * 1_000n },
        { account: 'caller:did:web:agent.example', amount: amount * 1_000n },
      ],
    });
    const transferId = (tx: string) => `transfer:${NETWORK}:${tx}:0`;

    async function post(store: Store, { incoming }: Range, from = 0, to = IN_A_RANGE): Promise<void> {
      const rows = incoming.map((tx, index) => posting(transferId(tx), BigInt(index + 1)));
      await Promise.all(rows.slice(from, to).map((row) => store.ledger.post(row)));
    }

    async function bookPayout(store: Store, txHash: string): Promise<void> {
      const payout: PayoutRow = {
        id: `wd_${txHash}`,
        kind: 'withdrawal',
        state: 'waiting',
        network: NETWORK,
        account: 'caller:did:web:agent.example',
        address: bob,
        amount: PAID_OUT,
        reason: null,
        transfer: null,
        createdAt: AT,
        ...UNPAID,
      };
      await store.treasury.requestPayout(payout, requestPosting(payout, AT));
      const ended = { id: payout.id, txHash, height: 1, note: null };
      const move = { from: 'waiting', to: 'paid', at: AT } as const;
      expect(await store.treasury.endPayout(ended, move, paidPosting(payout, AT))).toBe('ended');
    }

    it('in parts, whichever side is ahead, and misses no payment that the books lack', async () => {
      const store = await open();
      const treasury = chain.treasury.toLowerCase();
      const to = { height: 0, blockHash: '0x0' };
      await store.treasury.record({ network: NETWORK, treasury }, [], { from: null, to }, null);
      await store.ledger.post(posting(transferId(first), 1_000n));
      await post(store, late, 0, 100);
      await post(store, early);
      await post(store, late, 100);
      for (const { payout } of [late, early]) await bookPayout(store, payout);

      const statement = vi.spyOn(store.ledger, 'statement');
      const read = () =>
        statement.mock.settledResults.flatMap(({ type, value }) => (type === 'fulfilled' ? value : []))
          .length;
      let [shown, ahead] = [0, 0];
      const real = token();
      const counted: typeof real = {
        ...real,
        async *transfers(query) {
          for await (const transfer of real.transfers(query)) {
            shown += 1;
            ahead = Math.max(ahead, shown - read());
            yield transfer;
          }
        },
      };
      const dependencies = { store, treasury, token: counted };
      const lacking = {
        kind: 'unposted_transfer',
        txHash: byHand,
        posting: null,
        onChain: -BY_HAND,
        inLedger: 0n,
      };
      const found = await reconcile(dependencies);
      const count = 2 * (IN_A_RANGE + 1) + 1;
      expect(found).toMatchObject({
        transfers: count + 1,
        postings: count,
        pending: 0n,
        differences: [lacking],
      });
      expect(found.onChain).toBe(found.inLedger - BY_HAND);
      // What the chain shows is looked up in the ledger before the chain is read on.
      expect(ahead).toBeLessThan(1.5 * IN_A_RANGE);
      await expect(requireKnownPayments(dependencies)).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining(byHand),
      });

      await store.ledger.post(posting(ownId(NETWORK, byHand), -BY_HAND));
      await requireKnownPayments(dependencies);
      const again = ownId(NETWORK, early.payout);
      await store.ledger.post(posting('invented', 5n));
      await store.ledger.post(posting(again, -PAID_OUT));
      expect((await reconcile(dependencies)).differences).toMatchObject([
        { kind: 'posting_without_transfer', posting: 'invented', inLedger: 5n },
        { kind: 'posting_without_transfer', posting: again, inLedger: -PAID_OUT },
      ]);
    }, 120_000);
  });
}

/** Alice pays the treasury 1, 2, 3, … base units in one block. Resolves to the transactions. */
async function payMany(chain: TreasuryChain): Promise<string[]> {
  const { anvil, treasury } = chain;
  const from = devAccount('alice').address;
  await anvil.rpc('anvil_impersonateAccount', from);
  const first = Number(await anvil.rpc('eth_getTransactionCount', from, 'latest'));
  const pay = async (index: number): Promise<string> => {
    const args = [getAddress(treasury), BigInt(index + 1)] as const;
    const data = encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args });
    const nonce = numberToHex(first + index);
    return String(await anvil.rpc('eth_sendTransaction', { from, to: DEV_USDC, data, gas: GAS, nonce }));
  };
  let sent: string[] = [];
  await chain.together(async () => {
    sent = await Promise.all(times(IN_A_RANGE, pay));
  });
  return sent;
}
