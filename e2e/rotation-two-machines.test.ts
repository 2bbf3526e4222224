import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startPostgres, type TestPostgres } from '../packages/server/test/postgres.ts';
import { type Env, post, type Served, serve, tally, temporaryFolder } from './process.ts';

/** A machine: its own data directory with its own copy of the keyring, and the root on neither. */
interface Machine {
  readonly env: Env;
  readonly keyring: string;
  readonly served: Served;
}

const home = temporaryFolder();
const at = (name: string): string => join(home, name);
let postgres: TestPostgres;
let one: Machine;
let two: Machine;

beforeAll(async () => {
  postgres = await startPostgres();
  const database = await postgres.url('rotation');
  const envOf = (name: string): Env => ({
    TALLY_DATA_DIR: at(name),
    TALLY_DATABASE_URL: database,
    TALLY_HANDLE: 'acme',
    TALLY_DEVNET: 'off',
    TALLY_LOG_ORIGIN: 'log.example',
  });
  for (const name of ['one', 'two']) mkdirSync(at(name));
  await tally(['keys', 'init', '--root-out', at('root.json')], envOf('one'));
  copyFileSync(at('one/keyring.json'), at('two/keyring.json'));
  const start = async (name: string): Promise<Machine> => ({
    env: envOf(name),
    keyring: at(`${name}/keyring.json`),
    served: await serve(envOf(name)),
  });
  one = await start('one');
  two = await start('two');
  await publish(one);
});
afterAll(() => postgres?.stop());

/** As an operator does where the root is kept offline. */
async function publish({ env }: Machine): Promise<void> {
  const draft = await tally(['trust', 'draft'], env);
  writeFileSync(at('draft.json'), draft.stdout);
  const signed = await tally(['trust', 'sign', at('draft.json'), '--root-keyring', at('root.json')], env);
  writeFileSync(at('trust.json'), signed.stdout);
  expect(await tally(['trust', 'publish', at('trust.json')], env)).toMatchObject({ code: 0 });
}

interface Minted {
  readonly text: string;
  readonly keyId: string;
}

let minted = 0;
async function mint({ served }: Machine): Promise<Minted> {
  minted += 1;
  const { status, text } = await post(`${served.url}/v1/receipt/free`, {
    input: `n ${minted}`,
    purpose: 'rotation',
  });
  expect(status).toBe(200);
  return { text, keyId: JSON.parse(text).key_id };
}

async function verdictAt({ served }: Machine, { text }: Minted): Promise<unknown> {
  const answer = JSON.parse((await post(`${served.url}/v1/receipt/verify`, text)).text);
  return { valid: answer.valid, trusted: answer.issuer.trusted };
}

const GOOD = { valid: true, trusted: true };

it('a rotation reaches two machines one after the other, and no receipt of either becomes untrusted', async () => {
  const receipts = [await mint(one), await mint(two)];
  const [before] = receipts.map(({ keyId }) => keyId);
  expect(receipts[1]?.keyId).toBe(before);

  // Machine two still signs with the outgoing key, which is valid for the time of grace.
  const rotated = await tally(['keys', 'rotate', '--grace', '3600', '--json'], one.env);
  const { key_id: after } = JSON.parse(rotated.stdout);
  await vi.waitFor(async () => expect((await mint(one)).keyId).toBe(after), { timeout: 60_000 });
  await publish(one);
  receipts.push(await mint(one), await mint(two));
  expect(receipts.slice(2).map(({ keyId }) => keyId)).toEqual([after, before]);

  // The copy takes the place of the old file at once, as a whole.
  copyFileSync(one.keyring, `${two.keyring}.new`);
  renameSync(`${two.keyring}.new`, two.keyring);
  await vi.waitFor(async () => expect((await mint(two)).keyId).toBe(after), { timeout: 60_000 });
  receipts.push(await mint(two));

  for (const receipt of receipts) {
    for (const machine of [one, two]) expect(await verdictAt(machine, receipt)).toEqual(GOOD);
    writeFileSync(at('receipt.json'), receipt.text);
    const offline = await tally(['verify', at('receipt.json'), '--trust', at('trust.json')], {
      TALLY_HOME: at('home'),
    });
    expect(offline).toMatchObject({ code: 0 });
  }
  expect(readFileSync(two.keyring, 'utf8')).toBe(readFileSync(one.keyring, 'utf8'));
});

it('a keyring that is not of this service is refused, and the machine goes on with its own', async () => {
  const other: Env = { TALLY_DATA_DIR: at('other'), TALLY_HANDLE: 'other' };
  await tally(['keys', 'init'], other);
  const { keyId } = await mint(two);
  copyFileSync(two.keyring, at('kept.json'));
  copyFileSync(at('other/keyring.json'), two.keyring);
  const { code, stdout } = await tally(['reload', '--json'], two.env);
  expect({ code, faults: JSON.parse(stdout)[0].faults }).toEqual({
    code: 1,
    faults: [expect.stringMatching(/belongs to did:svc:other, but the service is did:svc:acme/)],
  });
  expect((await mint(two)).keyId).toBe(keyId);
  copyFileSync(at('kept.json'), two.keyring);
  expect((await tally(['reload'], two.env)).code).toBe(0);
});
