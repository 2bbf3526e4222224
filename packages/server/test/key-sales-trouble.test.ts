import { beforeEach, describe, expect, it } from 'vitest';
import { PRO, useKeySales } from './key-sales.ts';
import { DATABASES, type TestService } from './service.ts';
import { endOf, startPaidService, transfersOf, watch } from './treasury.ts';

const sales = useKeySales();
const { start, settled, orders, deliver, works, balanceOf, expectBalancedBooks, services } = sales;

describe('a reorganisation before confirmation', () => {
  const CONFIRMATIONS = { TALLY_USDC_CONFIRMATIONS: '3' };
  // So that nothing of what came before is among the blocks that are not confirmed.
  beforeEach(() => sales.chain.mine(3));

  it('that drops a transfer leaves nothing of it', async () => {
    await start({ env: CONFIRMATIONS });
    const snapshot = await sales.chain.anvil.rpc('evm_snapshot');
    const tx = await sales.chain.pay(PRO, 'tier=pro contact=a@example.com');
    await sales.chain.mine(1);
    await watch(sales.service);
    expect(await transfersOf(sales.service)).toEqual([]);
    await sales.chain.anvil.rpc('evm_revert', snapshot);
    await sales.chain.mine(6);
    await watch(sales.service);
    expect(await endOf(sales.service, tx)).toBeUndefined();
    expect(await orders()).toEqual([]);
  });

  it('that moves a transfer to another block acts on it once, where it comes to rest', async () => {
    await start({ env: CONFIRMATIONS });
    const snapshot = await sales.chain.anvil.rpc('evm_snapshot');
    const { raw, txHash } = await sales.chain.sign('alice', PRO, 'tier=pro contact=a@example.com');
    await sales.chain.send(raw);
    await watch(sales.service);
    await sales.chain.anvil.rpc('evm_revert', snapshot);
    await sales.chain.mine(2);
    await sales.chain.send(raw);
    await watch(sales.service);
    expect(await transfersOf(sales.service)).toEqual([]);
    await sales.chain.mine(2);
    expect(await settled(txHash)).toMatchObject({ outcome: 'key' });
    expect(await orders()).toHaveLength(1);
  });

  it('below the confirmed blocks is read again, and what was acted on is not acted on twice', async () => {
    await start();
    const snapshot = await sales.chain.anvil.rpc('evm_snapshot');
    const other = await sales.chain.sign('bob', PRO, 'tier=pro contact=b@example.com');
    const { raw, txHash } = await sales.chain.sign('alice', PRO, 'tier=pro contact=a@example.com');
    await sales.chain.send(raw);
    expect(await settled(txHash)).toMatchObject({ outcome: 'key' });
    await sales.chain.anvil.rpc('evm_revert', snapshot);
    await sales.chain.together(async () => {
      await sales.chain.send(other.raw);
      await sales.chain.send(raw);
    });
    expect(await settled(other.txHash)).toMatchObject({ outcome: 'key' });
    expect(await orders()).toHaveLength(2);
    expect(await transfersOf(sales.service)).toHaveLength(2);
  });
});

describe('a crash, or two servers', () => {
  it('between payment and delivery: the key is delivered after the restart', async () => {
    await start();
    sales.mailbox.accepts(false);
    await sales.chain.pay(PRO, 'tier=pro contact=a@example.com');
    await watch(sales.service);
    await deliver();
    const [failed] = await orders();
    expect(failed).toMatchObject({ state: 'delivering', attempts: 1, problem: expect.stringMatching(/\S/) });
    await sales.service.restart();
    sales.mailbox.accepts(true);
    await watch(sales.service);
    await deliver();
    expect((await orders())[0]?.state).toBe('delivering');
    sales.service.clock.advance(31_000);
    await deliver();
    const letter = await sales.mailbox.next();
    expect(await works(/k_pro_\w{32}/.exec(letter.text)?.[0] ?? '')).toBe(200);
    expect(await orders()).toMatchObject([{ state: 'done', attempts: 2, problem: null }]);
  });

  it('while no server runs: what was paid meanwhile is found', async () => {
    await start();
    await sales.service.services.close();
    const tx = await sales.chain.pay(PRO, 'tier=pro contact=a@example.com');
    await sales.chain.mine(3);
    await sales.service.restart();
    expect(await settled(tx)).toMatchObject({ outcome: 'key' });
  });

  it('a process that dies while it delivers leaves the same key to the next one', async () => {
    await start();
    await sales.chain.pay(PRO, `tier=pro contact=${sales.hook.domain}`);
    await watch(sales.service);
    const { treasury } = sales.service.services.store;
    const now = Math.floor(sales.service.clock() / 1000);
    expect(await treasury.takeDue(now, now + 120)).toMatchObject({ attempts: 1 });
    await deliver();
    expect(sales.hook.count()).toBe(0);
    sales.service.clock.advance(121_000);
    await deliver();
    const { document } = await sales.hook.next();
    expect(await works(document.key)).toBe(200);
  });

  it.each(DATABASES)('two servers on one store act once: %s', async (database) => {
    await start({ database });
    const env = { TALLY_DATA_DIR: sales.service.config.dataDir, ...databaseOf(sales.service) };
    const other = await startPaidService(sales.chain, { env: { ...sales.mailbox.env, ...env } });
    services.unshift(other);
    const txs: string[] = [];
    for (let i = 0; i < 6; i += 1) txs.push(await sales.chain.pay(PRO, `tier=pro contact=c${i}@example.com`));
    txs.push(await sales.chain.pay(7n));
    const [a, b] = [sales.service.services.treasury, other.services.treasury];
    await Promise.all([a?.watch(), b?.watch(), a?.watch(), b?.watch()]);
    await Promise.all([a?.deliver(), b?.deliver()]);
    expect(await transfersOf(sales.service)).toHaveLength(7);
    const all = await orders();
    expect(all).toHaveLength(6);
    expect(all.every(({ state, attempts }) => state === 'done' && attempts === 1)).toBe(true);
    const letters = await sales.mailbox.take(6);
    expect(new Set(letters.flatMap(({ to }) => to)).size).toBe(6);
    expect(await sales.service.services.store.treasury.newestPayouts('refund', 100)).toHaveLength(1);
    expect(await balanceOf('revenue')).toBe(6n * 29_000_000_000n);
    await expectBalancedBooks();
  });
});

function databaseOf({ config: { database } }: TestService): Record<string, string> {
  return database.kind === 'postgres' ? { TALLY_DATABASE_URL: database.url } : {};
}
