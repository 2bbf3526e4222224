import { symlinkSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ran, type Service, serve, workspace } from '../../../cli/test/tally.ts';

const { at, tally, remove } = workspace();
let key: string;
const did = 'did:web:agent.example';
let service: Service;

beforeAll(async () => {
  service = await serve(at('data'));
  key = await newKey();
});
afterAll(async () => {
  await service.stop();
  remove();
});

const ledger = (...args: string[]): Promise<Ran> => tally(['ledger', ...args], { env: service.env });
const newKey = async (): Promise<string> =>
  JSON.parse((await tally(['apikey', 'create', '--tier', 'pro', '--json'], { env: service.env })).stdout).id;
const parsed = async (...args: string[]) => JSON.parse((await ledger(...args, '--json')).stdout);

describe('the ledger of a running service', () => {
  test('credits a caller, once for a reference', async () => {
    const credited = await parsed('credit', key, '12.5', '--reference', 'invoice 117', '--memo', 'paid');
    expect(credited).toEqual({
      account: `caller:${key}`,
      amount: '12.5',
      balance: '12.5',
      reference: 'invoice 117',
      credited: true,
    });
    expect(await parsed('credit', key, '12.5', '--reference', 'invoice 117')).toEqual({
      ...credited,
      credited: false,
    });
    expect(await ledger('credit', key, '0.000000001')).toMatchObject({
      code: 0,
      stdout: `caller:${key} is credited with 0.000000001 USDC and has 12.500000001.\n`,
    });
    expect(await parsed('balance', key)).toEqual({
      account: `caller:${key}`,
      balance: '12.500000001',
      reserved: '0',
      available: '12.500000001',
    });
    expect((await ledger('balance', 'external')).stdout).toBe('external: -12.500000001 USDC\n');
  });

  test('refuses a reference that was used for another amount or account', async () => {
    const usedFor = (what: string) => ({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`The reference invoice 117 was already used for ${what}.`),
    });
    expect(await ledger('credit', key, '13', '--reference', 'invoice 117')).toMatchObject(
      usedFor('12.5 USDC to this account'),
    );
    expect(await ledger('credit', did, '12.5', '--reference', 'invoice 117')).toMatchObject(
      usedFor('another account'),
    );
  });

  test('refuses a key that does not exist or is revoked', async () => {
    const unknown = 'key_0123456789abcdef';
    expect(await ledger('credit', unknown, '1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`There is no API key with the id ${unknown}.`),
    });
    const revoked = await newKey();
    await tally(['apikey', 'revoke', revoked], { env: service.env });
    expect(await ledger('credit', revoked, '1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`The API key ${revoked} is revoked`),
    });
    expect(await parsed('balance', revoked)).toMatchObject({ balance: '0' });
  });

  test('lists the lines of an account', async () => {
    for (const amount of ['1', '2', '3']) await ledger('credit', did, amount, '--memo', `memo ${amount}`);
    const lines = await parsed('statement', did, '--limit', '2');
    expect(lines).toEqual([
      {
        line: 2,
        at: expect.stringMatching(/Z$/),
        amount: '2',
        balance: '3',
        memo: 'memo 2',
        id: expect.any(String),
      },
      {
        line: 3,
        at: expect.stringMatching(/Z$/),
        amount: '3',
        balance: '6',
        memo: 'memo 3',
        id: expect.any(String),
      },
    ]);
    expect(await parsed('statement', did, '--after', '0', '--limit', '1')).toMatchObject([{ line: 1 }]);
    expect((await ledger('statement', did)).stdout).toMatch(/ 3 {2}\S+Z +\+3 +6 {2}memo 3/);
    expect(await ledger('statement', 'did:web:nobody.example')).toMatchObject({ code: 0, stdout: '' });
  });

  test('says whether the books balance', async () => {
    expect(await parsed('check')).toMatchObject({ balanced: true, sum: '0', faults: [] });
    expect((await ledger('check')).stdout).toMatch(/^\d+ postings balance\.\n$/);
    const connection = new DatabaseSync(`${at('data')}/tally.db`, { timeout: 5_000 });
    connection.exec("update accounts set balance = balance + 1 where account = 'external'");
    const { code, stdout } = await ledger('check');
    expect([code, stdout]).toEqual([1, expect.stringContaining('account external has balance')]);
    connection.exec("update accounts set balance = balance - 1 where account = 'external'");
    connection.close();
  });

  test.each([
    [['credit', 'k_pro_secret', '1'], 2],
    [['credit', did, '-1'], 2],
    [['credit', did, '1.0000000001'], 2],
    [['credit', did, '0'], 2],
    [['credit', did], 2],
    [['balance', 'revenues'], 2],
    [['statement', did, '--limit', '0'], 2],
    [['statement', did, '--after', '-1'], 2],
  ])('refuses %j', async (args, code) => {
    const ran = await ledger(...args, '--json');
    expect(ran.code).toBe(code);
    expect(JSON.parse(ran.stdout).error.message).not.toContain('secret');
  });

  test('says that there is nothing to reconcile where no payment is taken', async () => {
    const { code, stderr } = await tally(['ledger', 'reconcile'], {
      env: { ...service.env, TALLY_DEVNET: 'on' },
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining('TALLY_PAYMENTS is off')]);
  });

  test('needs a database', async () => {
    const ran = await tally(['ledger', 'balance', key], { env: { TALLY_DATA_DIR: at('nowhere') } });
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('There is no database')]);
  });

  test('says of a data folder that it cannot look into so, and not that nothing is there', async () => {
    symlinkSync('endless', at('endless'));
    for (const args of [
      ['ledger', 'check'],
      ['keys', 'list'],
    ]) {
      const ran = await tally(args, { env: { TALLY_DATA_DIR: at('endless') } });
      expect([ran.code, ran.stderr]).toEqual([2, expect.stringMatching(/cannot be read.*ELOOP/)]);
    }
  });
});
