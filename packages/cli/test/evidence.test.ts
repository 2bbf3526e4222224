import { readFileSync, writeFileSync } from 'node:fs';
import { anchoredHash, rootFingerprint } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  AT,
  bundleOfEarlyHeads,
  correcting,
  envelopeAt,
  goodFiles,
  type Made,
  makeIssuer,
  manifestOf,
  partOf,
  streamFiles,
  trustLike,
  zipOf,
} from '../../core/test/evidence-bundle.ts';
import { type Ran, type Service, serve, until, workspace } from './tally.ts';

const { at, tally, remove } = workspace();
let service: Service;
let tenant: string;
let key: string;

const here = (...args: readonly string[]): Promise<Ran> => tally(args, { env: service.env });
const bearer = () => ({ authorization: `Bearer ${key}` });

beforeAll(async () => {
  // A chain and short postings, so that the bundle has anchors.
  service = await serve(at('data'), { env: { TALLY_DEVNET: 'on', TALLY_ANCHOR_PERIOD_SECONDS: '1' } });
  tenant = (await here('tenant', 'create', '--label', 'acme')).stdout.trim();
  key = (await here('tenant', 'key', tenant)).stdout.trim();
});
afterAll(async () => {
  await service.stop();
  remove();
});

const post = (path: string, body: string): Promise<Response> =>
  fetch(service.url + path, {
    method: 'POST',
    headers: { ...bearer(), 'content-type': 'application/json' },
    body,
  });

/** A file of a part with the numbers of another one. */
const renumbered = (part: readonly Made[], number: number): Made[] =>
  part.map((file) => ({ ...file, path: file.path.replace(/\d{6}/, String(number).padStart(6, '0')) }));

const hex = (digit: string): string => digit.repeat(64);
const BILL = {
  machine_commitment: hex('1'),
  customer_commitment: hex('2'),
  salt_commitment: hex('3'),
  window_start: '2026-02-01T00:00:00Z',
  window_end: '2026-03-01T00:00:00Z',
  service_unit: 'pick',
  rate: { unit_rate_minor: 5, currency: 'EUR', rate_commitment: hex('4') },
  evidence: [],
};

async function emit(input: string): Promise<void> {
  expect((await post(`/tenants/${tenant}/receipts`, JSON.stringify({ input }))).status).toBe(200);
}

/** Downloads the room into a file. */
async function download(name: string): Promise<string> {
  const answer = await fetch(`${service.url}/tenants/${tenant}/evidence`, { headers: bearer() });
  writeFileSync(at(name), new Uint8Array(await answer.arrayBuffer()));
  return at(name);
}

const verify = async (file: string, ...more: string[]) => {
  const { code, stdout } = await tally(['evidence', 'verify', file, '--json', ...more]);
  return { code, said: JSON.parse(stdout) };
};

/** The environment of a process whose clock shows the time at which bundles of core's tests are made. */
const later = { NODE_OPTIONS: `--import=data:text/javascript,Date.now=()=>${AT + 1000}` };

describe('tally tenant', () => {
  test('makes ids and keys that nobody guesses, lists the ids alone, and revokes at once', async () => {
    expect(tenant).toMatch(/^t_[0-9a-z]{16}$/);
    expect(key).toMatch(/^k_ten_[0-9A-Za-z]{32}$/);
    const made = JSON.parse((await here('tenant', 'key', tenant, '--json')).stdout);
    const listed = await here('tenant', 'list', '--json');
    const [row] = JSON.parse(listed.stdout);
    expect(row).toMatchObject({ id: tenant, label: 'acme', revoked_at: null });
    expect(row.keys).toHaveLength(2);
    expect((await here('tenant', 'list')).stdout).toContain(made.id);
    expect(listed.stdout).not.toContain(key);
    const ask = async (): Promise<number> =>
      (
        await fetch(`${service.url}/tenants/${tenant}/evidence/exports`, {
          headers: { authorization: `Bearer ${made.key}` },
        })
      ).status;
    expect(await ask()).toBe(200);
    expect((await here('tenant', 'revoke', made.id)).code).toBe(0);
    expect(await ask()).toBe(401);
    const other = (await here('tenant', 'create')).stdout.trim();
    expect((await here('tenant', 'revoke', other)).stdout).toBe(`${other} is revoked.\n`);
    const refused = await here('tenant', 'key', other, '--json');
    expect([refused.code, JSON.parse(refused.stdout).error.code]).toEqual([1, 'tenant_not_found']);
    const mistaken = await here('tenant', 'revoke', key);
    expect([mistaken.code, mistaken.stderr.includes(key)]).toEqual([2, false]);
  });
});

describe('tally evidence verify', () => {
  test('takes a bundle with its anchors by a root that is known, and says so where none is', async () => {
    await emit('a first');
    await emit('a second');
    const file = await until(
      async () => download('bundle.zip'),
      (path) => /"anchored":[1-9]/.test(readFileSync(path, 'latin1')),
    );
    const stranger = await verify(file);
    expect([stranger.code, stranger.said.intact, stranger.said.trusted]).toEqual([3, true, false]);
    expect(stranger.said.anchored).toBeGreaterThan(0);
    const { root } = stranger.said;
    expect(await verify(file, '--root', root)).toMatchObject({
      code: 0,
      said: { trusted: true, root, tenant },
    });
    expect((await verify(file, '--root', `sha256:${'0'.repeat(64)}`)).code).toBe(3);
    await here('trust', 'fetch', service.url);
    expect((await verify(file)).code).toBe(0);
    const shown = await tally(['evidence', 'verify', file]);
    expect([shown.code, shown.stdout.includes(root)]).toEqual([0, true]);
    await here('trust', 'forget', service.url);
  });

  test('says which receipts of a bundle are superseded', async () => {
    const env = { ...service.env, TALLY_API_KEY: key };
    for (const [billed, name] of ['first', 'second'].entries()) {
      const body = JSON.stringify({ ...BILL, billed_unit_count: billed + 1 });
      const answer = await post('/v1/receipt/metering', body);
      writeFileSync(at(name), await answer.text());
    }
    const why = ['--reason', 'Two picks were counted twice.', '--out', at('link')];
    const signed = await tally(['correct', at('first'), at('second'), ...why], { env });
    expect(signed).toEqual({ code: 0, stdout: '', stderr: expect.stringContaining('Wrote ') });
    const file = await download('corrected.zip');
    const { code, said } = await verify(file);
    expect({ code, superseded: said.superseded }).toEqual({ code: 3, superseded: 1 });
    expect(said.corrections).toMatchObject([{ valid: true, trusted: true, corrects: { state: 'valid' } }]);
    const { stdout } = await tally(['evidence', 'verify', file]);
    expect(stdout).toContain('  corrected  1 receipts are superseded, and prove what they proved\n');
    expect(stdout).toMatch(
      /\n→ r_sls\.metering_\S+ corrects r_sls\.metering_\S+, .* Reason: Two picks were counted twice\.\n/,
    );
  });

  test('ends with 1 where the issuer says two things of a receipt, and refuses nothing', async () => {
    const issuer = await makeIssuer();
    const second = AT / 1000 - 90_000;
    const [first = '', ...others] = await Promise.all(
      ['a', 'b', 'c'].map((suffix) => envelopeAt(issuer.receipt, second, suffix)),
    );
    const links = await Promise.all(
      others.map((other, index) =>
        envelopeAt(issuer.receipt, second + 1, `${index}`, correcting(first, other)),
      ),
    );
    const files = [...(await goodFiles(issuer)).slice(0, 3), ...partOf(1, [first, ...others, ...links])];
    const manifest = await manifestOf(issuer, files, (facts) => ({ ...facts, receipts: 5, metering: 0 }));
    writeFileSync(at('twice.zip'), zipOf([manifest, ...files]));
    const ask = ['evidence', 'verify', at('twice.zip'), '--root', rootFingerprint(issuer.root.publicKey)];
    const { code, stdout: json } = await tally([...ask, '--json'], { env: later });
    const said = JSON.parse(json);
    expect({ code, said }).toMatchObject({ code: 1, said: { intact: true, trusted: true, superseded: 0 } });
    expect(said.corrections).toMatchObject([{ valid: false }, { valid: false }]);
    const { stdout } = await tally(ask, { env: later });
    expect(stdout).toContain('2 of 2 corrections are at fault');
    expect(stdout.match(/\n✗ r_env_\S+ corrects nothing: r_env_\S+ names another correction/g)).toHaveLength(
      2,
    );
  });

  test('finds in many parts what it finds in one, and names the first of two faults', async () => {
    const issuer = await makeIssuer();
    const second = AT / 1000 - 90_000;
    const receipts = await Promise.all(
      Array.from({ length: 24 }, (_, index) => envelopeAt(issuer.receipt, second + index, `${index}`)),
    );
    const [first = '', other = ''] = receipts;
    receipts.push(await envelopeAt(issuer.receipt, second + 24, 'f', correcting(first, other)));
    const partsOf = (texts: readonly string[]): Made[][] =>
      [1, 2, 3, 4, 5].map((number) => partOf(number, texts.slice(5 * number - 5, 5 * number)));
    const parts = partsOf(receipts);
    const counts = { receipts: 25, metering: 0 };
    const ask = async (made: readonly Made[][]): Promise<Record<string, unknown>> => {
      const files = [...(await goodFiles(issuer)).slice(0, 3), ...made.flat()];
      const manifest = await manifestOf(issuer, files, (facts) => ({ ...facts, ...counts }));
      writeFileSync(at('parts.zip'), zipOf([...files, manifest]));
      const { stdout } = await tally(['evidence', 'verify', at('parts.zip'), '--json'], { env: later });
      return JSON.parse(stdout);
    };
    expect(await ask(parts)).toMatchObject({ intact: true, ...counts, superseded: 1, untrusted: 0 });
    const changed = partsOf(
      receipts.map((text, index) =>
        index % 10 === 2 ? text.replace('"purpose":"receipt"', '"purpose":""') : text,
      ),
    ).with(0, parts[0] ?? []);
    const refused = { intact: false, reason: 'receipt_invalid', path: 'anchors/000003.ndjson' };
    expect(await ask(changed)).toMatchObject(refused);
    const [one = [], two = [], ...rest] = parts;
    const swapped = [renumbered(two, 1), renumbered(one, 2), ...rest];
    const disordered = { intact: false, reason: 'receipt_twice', path: 'receipts/000002.ndjson' };
    expect(await ask(swapped)).toMatchObject(disordered);
  });

  test('ends with 3 where an anchor is of no log that the trust lists, and says so', async () => {
    const issuer = await makeIssuer();
    const part = partOf(1, [await envelopeAt(issuer.receipt, AT / 1000 - 90_000, 'a')]);
    const pending = '"anchor":{"anchor_ref":"urn:anchor:pending:2027-02-28T00:00Z:5"}';
    const files = [...(await goodFiles(issuer)).slice(0, 3), ...part].map((file) =>
      file.path.startsWith('anchors/')
        ? {
            ...file,
            bytes: Buffer.from(Buffer.from(file.bytes).toString().replace('"anchor":null', pending)),
          }
        : file,
    );
    const counts = { receipts: 1, anchored: 1, metering: 0 };
    const manifest = await manifestOf(issuer, files, (facts) => ({ ...facts, ...counts }));
    writeFileSync(at('pending.zip'), zipOf([manifest, ...files]));
    const ask = ['evidence', 'verify', at('pending.zip'), '--root', rootFingerprint(issuer.root.publicKey)];
    const { code, stdout, stderr } = await tally(ask, { env: later });
    expect({ code, stdout }).toEqual({ code: 3, stdout: expect.stringContaining('1: 1 anchored') });
    expect(stderr).toContain('The anchors of 1 receipts show nothing: no log that the trust lists');
  });

  test('ends with 3 where the trust does not vouch for the keys of receipts, and says of how many', async () => {
    const issuer = await makeIssuer('burnt', '2027-02-28T12:00:00Z');
    const files = await goodFiles(issuer);
    writeFileSync(at('burnt.zip'), zipOf([await manifestOf(issuer, files), ...files]));
    const ask = ['evidence', 'verify', at('burnt.zip'), '--root', rootFingerprint(issuer.root.publicKey)];
    const { code, stderr } = await tally(ask, { env: later });
    expect(code).toBe(3);
    expect(stderr).toContain('The trust does not vouch for the keys of 4 receipts.');
  });

  test('refuses a bundle whose root signed another trust bundle of the same version, and writes the proof', async () => {
    const issuer = await makeIssuer();
    const files = await goodFiles(issuer);
    writeFileSync(at('two-faced.zip'), zipOf([await manifestOf(issuer, files), ...files]));
    const twin = await trustLike(issuer, { issuedAt: AT - 1000 });
    writeFileSync(at('twin.json'), JSON.stringify(twin));
    const ask = ['evidence', 'verify', at('two-faced.zip'), '--trust', at('twin.json'), '--json'];
    const { code, stdout, stderr } = await tally(ask, { env: later });
    expect({ code, said: JSON.parse(stdout) }).toMatchObject({ code: 1, said: { reason: 'trust_refused' } });
    const [, proof = ''] = /The proof is in (\S+)\. /.exec(stderr) ?? [];
    const proven = await tally(['trust', 'fork', 'verify', proof, '--json']);
    expect({ code: proven.code, said: JSON.parse(proven.stdout) }).toMatchObject({
      code: 0,
      said: { proves_fork: true, kind: 'version', root: rootFingerprint(issuer.root.publicKey) },
    });
  });

  test('says how many receipts no head counts', async () => {
    const issuer = await makeIssuer();
    const from = Date.UTC(2027, 1, 1) / 1000;
    const both = await Promise.all(
      [1, 20].map((day) => envelopeAt(issuer.receipt, from + day * 86_400, String(day))),
    );
    const hashes = both.map((text) => anchoredHash(JSON.parse(text)));
    const heads: [number, number][] = [[1, from + 2 * 86_400]];
    const stream = await streamFiles(issuer, hashes, { heads, first: 1, since: from });
    const files = [...(await goodFiles(issuer)).slice(0, 3), ...partOf(1, both), ...stream];
    const manifest = await manifestOf(issuer, files, (facts) => ({ ...facts, receipts: 2, metering: 0 }));
    writeFileSync(at('early.zip'), zipOf([manifest, ...files]));
    const ask = ['evidence', 'verify', at('early.zip'), '--root', rootFingerprint(issuer.root.publicKey)];
    const { code, stdout } = await tally(ask, { env: later });
    expect(code).toBe(0);
    expect(stdout).toContain(
      'all 1 receipts that the head of 2027-02-03T00:00:00Z counts since 2027-02-01T00:00:00Z; no head counts 1 more,',
    );
  });

  test('says of which part of the period no head counts the receipts', async () => {
    const issuer = await makeIssuer();
    writeFileSync(at('tail.zip'), await bundleOfEarlyHeads(issuer));
    const ask = ['evidence', 'verify', at('tail.zip'), '--root', rootFingerprint(issuer.root.publicKey)];
    const { stdout } = await tally(ask, { env: later });
    expect(stdout).toContain('; no head counts what was issued from then until 2027-03-01T00:00:00Z');
  });

  test('refuses what was changed, with the reason', async () => {
    const bytes = readFileSync(await download('good.zip'));
    const changed = Buffer.from(bytes);
    const at1 = changed.indexOf('"purpose":"evidence export"');
    changed[at1 + 12] = 0x45;
    writeFileSync(at('changed.zip'), changed);
    expect(await verify(at('changed.zip'))).toMatchObject({
      code: 1,
      said: { intact: false, reason: 'file_crc' },
    });
    writeFileSync(at('short.zip'), bytes.subarray(0, bytes.length - 10));
    expect(await verify(at('short.zip'))).toMatchObject({ code: 1, said: { reason: 'zip_end' } });
    const { code, stdout } = await tally(['evidence', 'verify', at('short.zip')]);
    expect([code, stdout]).toEqual([1, expect.stringContaining('(zip_end)')]);
    expect((await tally(['evidence', 'verify', at('nowhere.zip')])).code).toBe(2);
    expect((await tally(['evidence', 'verify', at('.')])).code).toBe(2);
  });
});
