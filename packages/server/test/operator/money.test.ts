import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { devAccount, devSecretKey } from '../../../chain/src/token/dev-accounts.ts';
import { type Ran, type Service, serve, workspace } from '../../../cli/test/tally.ts';
import { type Mailbox, openMailbox } from '../key-receivers.ts';
import { sendUsdc } from '../usdc.ts';

const { at, tally, remove } = workspace();
let mailbox: Mailbox;
let service: Service;
let rpcUrl: string;
const treasury = devAccount('treasury').address;

beforeAll(async () => {
  mailbox = await openMailbox();
  service = await serve(at('data'), { env: { TALLY_DEVNET: 'on', TALLY_PAYMENTS: 'x402', ...mailbox.env } });
  rpcUrl = readFileSync(at('data/devnet/rpc-url'), 'utf8').trim();
});
afterAll(async () => {
  await service.stop();
  await mailbox.close();
  remove();
});

const run = (...args: string[]): Promise<Ran> => tally(args, { env: service.env });
const parsed = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);

/** Alice pays the treasury; resolves once that is in a block. */
async function pay(amount: bigint, memo: string): Promise<void> {
  await sendUsdc(rpcUrl, 'alice', { to: treasury, amount, memo });
}

/** Asks again until the server has seen it: it looks every two seconds. */
async function until<T>(ask: () => Promise<T>, isThere: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await ask();
    if (isThere(found)) return found;
  }
}

describe('money on the development chain', () => {
  test('a key that is sealed to a DID is opened with its key file', async () => {
    const key = at('agent.json');
    const { stdout: did } = await run('keys', 'generate', '--out', key);
    await pay(29_000_000n, `tier=pro issuer_did=${did.trim()}`);
    const [order] = await until(
      () => parsed('orders', 'list', '--all'),
      (orders) => orders[0]?.state === 'done',
    );
    expect(order).toMatchObject({ kind: 'key', tier: 'pro', months: 1, did: did.trim(), problem: null });
    const opened = await run('apikey', 'open', order.id, '--key', key);
    expect(opened.stdout).toMatch(/^k_pro_\w{32}\n$/);
    expect(await parsed('orders', 'list', '--all', '--limit', '1')).toEqual([order]);
    expect(await parsed('orders', 'list', '--all', '--before', order.id)).toEqual([]);
    expect(await run('orders', 'list', '--before', order.id)).toMatchObject({ code: 2 });
    expect(await run('orders', 'list', '--all', '--before', 'ord_none')).toMatchObject({ code: 2 });
    const [listed] = await parsed('apikey', 'list');
    expect(listed).toMatchObject({ id: order.key_id, expires_at: order.paid_until });
    const other = at('other.json');
    await run('keys', 'generate', '--out', other);
    const wrong = await run('apikey', 'open', order.id, '--key', other);
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toContain('seal_wrong_key');
  });

  test('a key that could not be delivered is tried again, with another contact', async () => {
    await pay(29_000_000n, 'tier=pro contact=127.0.0.1:9');
    const [order] = await until(
      () => parsed('orders', 'list'),
      (orders) => typeof orders[0]?.problem === 'string',
    );
    expect(await run('orders', 'retry', order.id, '--contact', 'nobody')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('A contact is an e-mail address, a domain or a DID'),
    });
    const retried = await run(
      'orders',
      'retry',
      order.id,
      '--contact',
      'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
    );
    expect(retried).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining('attempts:'),
      stderr: expect.stringContaining('A running server tries it now.'),
    });
  });

  test('refunds are listed, paid and dismissed', async () => {
    expect((await run('refunds', 'list')).stderr).toContain('There is no refund waiting.');
    await pay(4_000_000n, '');
    await pay(1n, 'hello');
    const queue = await until(
      () => parsed('refunds', 'list'),
      (found) => found.length === 2,
    );
    const large = queue.find(({ amount }: { amount: string }) => amount === '4');
    const small = queue.find(({ amount }: { amount: string }) => amount === '0.000001');
    expect(large).toMatchObject({
      state: 'waiting',
      reason: 'no_memo',
      address: devAccount('alice').address.toLowerCase(),
    });
    expect(small).toMatchObject({ reason: 'broken_memo' });
    expect(await run('refunds', 'pay')).toMatchObject({ code: 2 });
    expect(await run('refunds', 'pay', 'rf_none')).toMatchObject({ code: 2 });
    const paid = await run('refunds', 'pay', large.id, '--json');
    expect(paid.code).toBe(0);
    expect(JSON.parse(paid.stdout)).toMatchObject([{ id: large.id, state: 'paid', problem: null }]);
    expect(await parsed('refunds', 'dismiss', small.id, '--note', 'dust')).toMatchObject([
      { state: 'declined', note: 'dust' },
    ]);
    expect(await parsed('refunds', 'list')).toEqual([]);
    const [first, second, ...others] = await parsed('refunds', 'list', '--all');
    expect(others).toEqual([]);
    expect(await parsed('refunds', 'list', '--all', '--limit', '1')).toEqual([second]);
    expect(await parsed('refunds', 'list', '--all', '--before', second.id)).toEqual([first]);
    expect(await parsed('refunds', 'list', '--all', '--before', first.id)).toEqual([]);
    const cut = await run('refunds', 'list', '--all', '--limit', '1');
    expect(cut.stderr).toContain(`--before ${second.id}`);
    expect(await run('refunds', 'list', '--limit', '1')).toMatchObject({ code: 2 });
    for (const args of [
      ['refunds', 'list', '--all', '--before', 'rf_none'],
      ['withdrawals', 'list', '--all', '--before', first.id],
    ])
      expect((await run(...args)).stderr).toMatch(/There is no (?:refund|withdrawal) rf_/);
    const again = await run('refunds', 'dismiss', small.id, '--note', 'dust');
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('has ended: it is declined') });
  });

  test('ledger and chain agree, until somebody moves money by hand', async () => {
    const agreed = await run('ledger', 'reconcile', '--json');
    expect(agreed.code).toBe(0);
    expect(JSON.parse(agreed.stdout)).toMatchObject({
      agree: true,
      network: 'eip155:31337',
      treasuries: [treasury.toLowerCase()],
      on_chain: '58.000001',
      in_ledger: '58.000001',
      pending: '0',
      differences: [],
    });
    const { block } = JSON.parse(agreed.stdout) as { block: number };
    expect(await parsed('ledger', 'reconcile')).toMatchObject({ since: block });
    expect(await parsed('ledger', 'reconcile', '--all')).toMatchObject({ since: null, agree: true });
    expect((await run('ledger', 'balance', 'chain:eip155:31337')).stdout).toContain('-58.000001 USDC');
    const tx = await sendUsdc(rpcUrl, 'treasury', { to: devAccount('bob').address, amount: 5n });
    const differ = await until(
      () => run('ledger', 'reconcile'),
      ({ code }) => code !== 0,
    );
    expect(differ.code).toBe(1);
    expect(differ.stdout).toContain('unposted transfer: -0.000005 on the chain, 0 in the ledger');
    expect(await run('ledger', 'reconcile', '--own', tx)).toMatchObject({ code: 0 });
    expect(await run('ledger', 'reconcile', '--own', tx)).toMatchObject({ code: 1 });
    expect((await run('ledger', 'balance', 'owner')).stdout).toContain('-0.000005 USDC');
  });

  test('paying out needs the treasury’s key', async () => {
    const file = at('bob.key');
    writeFileSync(file, devSecretKey('bob'), { mode: 0o600 });
    await pay(2n, '');
    const [refund] = await until(
      () => parsed('refunds', 'list'),
      (found) => found.length === 1,
    );
    const env = { ...service.env, TALLY_TREASURY_KEY_FILE: file };
    const refused = await tally(['refunds', 'pay', refund.id], { env });
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain('The key belongs to');
    const gone = { ...service.env, TALLY_TREASURY_KEY_FILE: at('gone.key') };
    const missing = await tally(['refunds', 'pay', refund.id], { env: gone });
    expect(missing).toMatchObject({ code: 1 });
    expect(missing.stderr).toContain(`there is no file ${at('gone.key')}`);
  });
});
