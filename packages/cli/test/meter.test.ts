import { createWriteStream, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anchoredHash } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bin, type Ran, run, type Service, serve, workspace } from './tally.ts';

const { at, home, tally, remove } = workspace();
let service: Service;

const hash = (unit: number): string => unit.toString(16).padStart(64, '0');
const leaf = (unit: number): string => `{"unit":${unit},"receipt_sha256":"${hash(unit)}"}\n`;
const leaves = (...units: number[]): string => units.map(leaf).join('');
const csv = (...units: number[]): string =>
  `unit,receipt_sha256\n${units.map((unit) => `${unit},${hash(unit)}\n`).join('')}`;

const SECRETS = ['SN-000117', 'acme-7', 'contract-12'] as const;
const bill = (billed: number, ...more: string[]): string[] => [
  'meter',
  'mint',
  '--machine',
  SECRETS[0],
  '--customer',
  SECRETS[1],
  '--rate-reference',
  SECRETS[2],
  '--unit',
  'pallet_moved',
  '--from',
  '2025-01-01T00:00:00Z',
  '--to',
  '2025-02-01T00:00:00Z',
  '--billed',
  String(billed),
  '--unit-rate-minor',
  '250',
  '--currency',
  'EUR',
  ...more,
];
const here = (): string[] => ['--key', at('key.json')];
const there = (): string[] => ['--url', service.url];
const json = (file: string) => JSON.parse(readFileSync(at(file), 'utf8'));

beforeAll(async () => {
  service = await serve(at('data'));
  await tally(['keys', 'generate', '--out', at('key.json')]);
  await tally(['mint', '--text', 'pallet 1', '--out', at('one.json')], { env: service.env });
  await tally(['trust', 'fetch'], { env: service.env });
  writeFileSync(at('five.ndjson'), leaves(3, 1, 5, 2, 7));
  writeFileSync(at('five.csv'), csv(3, 1, 5, 2, 7));
  writeFileSync(at('none.csv'), '');
  await tally(bill(7, '--evidence', at('five.csv'), ...there(), '--out', at('bill.json')));
});
afterAll(async () => {
  await service.stop();
  remove();
});

describe.each([
  ['with one’s own key, offline', here, 3],
  ['by the service', there, 0],
] as const)('minted %s', (name, where, exit) => {
  const prefix = name.length;
  const out = (file: string): string[] => ['--out', at(`${prefix}-${file}.json`)];
  const receipt = (file: string): string => at(`${prefix}-${file}.json`);

  test('from leaves and from CSV: the same bill, valid with its evidence in either form', async () => {
    for (const form of ['ndjson', 'csv']) {
      const args = bill(7, '--evidence', at(`five.${form}`), ...where(), ...out(form));
      expect(await tally(args)).toMatchObject({ code: 0, stdout: '' });
      const { signed_body: body } = json(`${prefix}-${form}.json`);
      expect(body).toMatchObject({
        metered: { billed_unit_count: 7, evidence_backed_unit_count: 5, unbacked_unit_count: 2 },
        coverage_class: 'majority_evidence_backed',
        amount_minor: 1750,
        evidence_backed_amount_minor: 1250,
      });
      for (const evidence of ['five.csv', 'five.ndjson']) {
        const { code, stdout } = await tally(['meter', 'verify', receipt(form), '--evidence', at(evidence)]);
        expect({ code, stdout }).toMatchObject({ code: exit, stdout: expect.stringMatching(/✓ evidence/) });
        expect(stdout).toMatch(
          /█{21}░{9} 71\.43 % of 7 pallet_moved\n.*evidence +5 +1,250\n.* 2 +500\n.* 7 +1,750/,
        );
      }
    }
    const digests = ['ndjson', 'csv'].map((form) => json(`${prefix}-${form}.json`).signed_body.metered);
    expect(digests[0]).toEqual(digests[1]);
  });

  test('nothing that was committed to is in the receipt, and all of it in the salt file', async () => {
    const text = readFileSync(receipt('csv'), 'utf8');
    for (const secret of SECRETS) expect(text).not.toContain(secret);
    const salt = receipt('csv').replace('.json', '.salt.json');
    expect(text).not.toContain(JSON.parse(readFileSync(salt, 'utf8')).salt);
    expect(Object.values(JSON.parse(readFileSync(salt, 'utf8')).values)).toEqual(
      expect.arrayContaining([...SECRETS]),
    );
    expect(statSync(salt).mode & 0o777).toBe(0o600);
  });

  test('of no evidence, and of a whole receipt', async () => {
    const none = await tally(bill(0, '--evidence', at('none.csv'), ...where(), '--salt-file', receipt('s0')));
    expect(JSON.parse(none.stdout).signed_body).toMatchObject({ coverage_class: 'not_evidence_backed' });
    writeFileSync(at('receipts.csv'), 'dock,unit,receipt\nA,1,one.json\nB,2,\n');
    const args = bill(2, '--evidence', at('receipts.csv'), ...where(), ...out('whole'), '--json');
    const { stdout } = await tally(args);
    expect(JSON.parse(stdout)).toMatchObject({
      file: receipt('whole'),
      receipt_id: expect.stringMatching(/^r_sls\.metering_/),
      salt_file: receipt('whole').replace('.json', '.salt.json'),
    });
    writeFileSync(at('one.ndjson'), `{"unit":1,"receipt_sha256":"${anchoredHash(json('one.json'))}"}`);
    const verify = ['meter', 'verify', receipt('whole'), '--evidence', at('one.ndjson')];
    expect(await tally(verify)).toMatchObject({ code: exit });
  });

  test.each<[string, string, string, string, RegExp]>([
    [
      'a unit twice',
      'csv',
      csv(1, 2, 1),
      'metering_unit_twice',
      /bad\.csv, line 4(?:: leaf)?\.unit is 1, which/,
    ],
    ['a receipt twice', 'csv', `${csv(1)}\n\n2,${hash(1)}\n`, 'metering_receipt_twice', /bad\.csv, line 5\b/],
    ['a unit not billed', 'ndjson', leaves(1, 8), 'metering_unit_range', /bad\.ndjson, line 2\b/],
    ['a hash that is none', 'csv', 'unit,receipt_sha256\n1,beef\n', 'invalid_field', /bad\.csv, line 2\b/],
    ['a broken line', 'ndjson', `${leaves(1)}{"unit":`, 'json_syntax', /bad\.ndjson, line 2: /],
    [
      'no JSON',
      'ndjson',
      `${leaves(1)}{broken\n${leaves(2)}`,
      'json_syntax',
      /^\S+bad\.ndjson, line 2: (?:leaf: )?Exp/,
    ],
    ['a broken row', 'csv', `${csv(1)}2\n`, 'invalid_field', /bad\.csv, line 3: The line has 1 fields/],
  ])(
    '%s is refused by the line of the file, and leaves no salt behind',
    async (_, form, text, code, message) => {
      writeFileSync(at(`bad.${form}`), text);
      const ran = await tally(bill(7, '--evidence', at(`bad.${form}`), ...where(), ...out('bad'), '--json'));
      expect({ exit: ran.code, ...JSON.parse(ran.stdout) }).toMatchObject({
        exit: 1,
        error: { code, message: expect.stringMatching(message) },
      });
      expect([existsSync(receipt('bad')), existsSync(receipt('bad.salt'))]).toEqual([false, false]);
    },
  );

  test('a salt is used again for the same bill, and for no other', async () => {
    const salt = ['--salt-file', receipt('kept')];
    const args = bill(7, '--evidence', at('five.csv'), ...where(), ...salt);
    const [first, second] = [await tally(args), await tally(args)].map(({ stdout }) => JSON.parse(stdout));
    expect(second.signed_body.metering_id).toBe(first.signed_body.metering_id);
    const kept = readFileSync(receipt('kept'), 'utf8');
    const other = bill(7, '--evidence', at('five.csv'), ...where(), ...salt, '--to', '2025-03-01T00:00:00Z');
    expect(await tally(other)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/the salt of another bill/),
    });
    expect(readFileSync(receipt('kept'), 'utf8')).toBe(kept);
  });
});

describe.each([
  ['with one’s own key, offline', here],
  ['by the service', there],
] as const)('whole receipts as evidence %s', (name, where) => {
  const out = at(`whole-${name.length}.json`);
  const forged = (): string => {
    const receipt = json('one.json');
    return JSON.stringify({ ...receipt, request: { ...receipt.request, purpose: 'another' } });
  };
  const mint = (file: string, ...more: string[]): Promise<Ran> =>
    tally(bill(7, '--evidence', at(file), ...where(), '--out', out, ...more));

  beforeAll(() => {
    writeFileSync(at('forged.json'), forged());
    writeFileSync(at('whole.csv'), 'unit,receipt\n2,\n1,one.json\n');
    writeFileSync(
      at('mixed.ndjson'),
      `{"unit":1,"receipt":${readFileSync(at('one.json'), 'utf8').trim()}}\n${leaf(2)}`,
    );
    writeFileSync(at('forged.csv'), 'unit,receipt\n2,\n1,forged.json\n');
    writeFileSync(at('forged.ndjson'), `${leaf(2)}{"unit":1,"receipt":${forged()}}\n`);
    writeFileSync(at('none.ndjson'), '{"unit":1,"receipt":{}}\n');
    writeFileSync(at('more.ndjson'), '{"unit":1,"receipt":{},"note":1}\n');
  });

  test('are verified and counted, when minting and when verifying', async () => {
    const counted = { verified: 1, logged: 0, hashed: 1, trusted: 1, issued_in_window: 0 };
    const minted = await mint('mixed.ndjson', '--json');
    expect(JSON.parse(minted.stdout)).toMatchObject({ evidence: counted });
    const told = await mint('whole.csv', '--evidence-policy', 'verified');
    expect(told).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Evidence: 1 verified (1 trusted'),
    });
    await mint('mixed.ndjson');
    const checked = await tally(['meter', 'verify', out, '--evidence', at('mixed.ndjson'), '--json']);
    expect(JSON.parse(checked.stdout)).toMatchObject({ valid: true, evidence: counted });
  });

  test.each([
    ['forged.csv', 3, /signature: The signature does not match/],
    ['forged.ndjson', 2, /signature: The signature does not match/],
    ['none.ndjson', 1, /not a receipt of a known family/],
  ])('that are not valid are refused by line: %s', async (file, line, reason) => {
    for (const policy of [[], ['--evidence-policy', 'verified'], ['--evidence-policy', 'hashed']]) {
      if (policy.includes('verified') && file === 'forged.ndjson') continue;
      const ran = await mint(file, ...policy, '--json');
      expect(JSON.parse(ran.stdout)).toMatchObject({
        error: {
          code: 'metering_evidence_invalid',
          message: expect.stringMatching(reason),
          field: `line ${line}`,
        },
      });
      expect(ran.stdout).toContain(`${file}, line ${line}`);
    }
  });

  test('a hash is refused where the policy asks for more', async () => {
    for (const policy of ['verified', 'logged']) {
      const ran = await mint('mixed.ndjson', '--evidence-policy', policy, '--json');
      expect(JSON.parse(ran.stdout)).toMatchObject({
        error: {
          code: 'metering_evidence_policy',
          field: 'line 2',
          message: expect.stringContaining('mixed.ndjson, line 2'),
        },
      });
    }
    expect((await mint('more.ndjson')).stderr).toMatch(/more\.ndjson, line 1\.note is not known/);
  });
});

describe('tally meter verify', () => {
  test('names the line of a receipt that is not valid', async () => {
    const mixed = `${leaf(2)}{"unit":1,"receipt":${readFileSync(at('one.json'), 'utf8').trim()}}\n`;
    writeFileSync(at('good.ndjson'), mixed);
    writeFileSync(at('bad-one.ndjson'), mixed.replace('"purpose":"', '"purpose":"x'));
    const [minted, bad] = [at('judged.json'), at('bad-one.ndjson')];
    await tally(bill(7, '--evidence', at('good.ndjson'), ...there(), '--out', minted));
    expect((await tally(['meter', 'verify', minted, '--evidence', at('good.ndjson')])).code).toBe(0);
    for (const command of [['meter', 'verify'], ['verify']]) {
      expect(await tally([...command, minted, '--evidence', bad])).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(
          /✗ Not valid: evidence: .*bad-one\.ndjson, line 2\.receipt is not valid: signature/,
        ),
      });
    }
  });

  test('tells evidence of another order, and tally verify with the same file does', async () => {
    writeFileSync(at('sorted.csv'), csv(1, 2, 3, 5, 7));
    for (const command of [['meter', 'verify'], ['verify']]) {
      const judge = (file: string) => tally([...command, at('bill.json'), '--evidence', at(file)]);
      expect(await judge('five.csv')).toMatchObject({ code: 0 });
      expect(await judge('sorted.csv')).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/✗ Not valid: evidence: /),
      });
    }
  });

  test('a broken evidence file is no fault of the receipt', async () => {
    writeFileSync(at('broken.csv'), `${csv(1)}2\n`);
    expect(await tally(['meter', 'verify', at('bill.json'), '--evidence', at('broken.csv')])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: /broken\.csv, line 3/,
    });
  });

  test('is not for other receipts', async () => {
    expect(await tally(['meter', 'verify', at('one.json'), '--evidence', at('none.csv')])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is not a metering receipt/),
    });
  });
});

describe('one commitment opened', () => {
  const open = async (label: string): Promise<string> => {
    const { stdout } = await tally(['meter', 'open', at('bound.salt.json'), '--label', label]);
    writeFileSync(at('opening.json'), stdout);
    return stdout;
  };
  const check = (...more: string[]): Promise<Ran> =>
    tally(['meter', 'check-opening', at('bound.json'), at('opening.json'), ...more]);
  beforeAll(async () => {
    const settled = ['--settlement-class', 'invoice_reference', '--settlement', 'INV-9'];
    await tally(bill(7, '--evidence', at('five.csv'), ...there(), ...settled, '--out', at('bound.json')));
  });

  test.each([
    ['machine', 'SN-000117'],
    ['customer', 'acme-7'],
    ['rate', 'contract-12'],
    ['settlement', 'INV-9'],
  ])('%s convinces, and holds nothing else', async (label, value) => {
    const opening = JSON.parse(await open(label));
    expect(opening).toEqual({
      type: 'svc-metering-opening-v1',
      label,
      value,
      subkey: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const { code, stdout } = await check();
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/✓ opening/) });
    expect(stdout).toContain(`commits to the ${label} “${value}”`);
  });

  test.each<[string, object]>([
    ['another value', { value: 'SN-000118' }],
    ['another key', { subkey: 'ab'.repeat(32) }],
    ['another label', { label: 'customer' }],
  ])('%s convinces nobody', async (_, change) => {
    const opening = JSON.parse(await open('machine'));
    writeFileSync(at('opening.json'), JSON.stringify({ ...opening, ...change }));
    expect(await check()).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^✗ Not valid: opening: /),
    });
    const { valid, issuer, checks } = JSON.parse((await check('--json')).stdout);
    expect([valid, issuer.trusted, checks.at(-1).name]).toEqual([false, false, 'opening']);
  });

  test('nor does the good opening of a receipt that nobody vouches for, or of a forged one', async () => {
    await open('machine');
    const nobody = await check('--trust', at('nobody.json'));
    expect(nobody.code).toBe(2);
    const forged = readFileSync(at('bound.json'), 'utf8').replace('"EUR"', '"USD"');
    writeFileSync(at('forged.json'), forged);
    expect(await tally(['meter', 'check-opening', at('forged.json'), at('opening.json')])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^✗ Not valid: signature: /),
    });
    const unknown = { env: { TALLY_HOME: at('elsewhere') } };
    expect(
      await tally(['meter', 'check-opening', at('bound.json'), at('opening.json')], unknown),
    ).toMatchObject({ code: 3 });
  });

  test('what is no opening or no salt file is said so', async () => {
    expect(await tally(['meter', 'open', at('bound.json'), '--label', 'rate'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is not a salt file/),
    });
    expect(await tally(['meter', 'check-opening', at('bound.json'), at('bound.json')])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is not an opening/),
    });
    expect(await tally(['meter', 'open', at('bill.salt.json'), '--label', 'settlement'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/The bill has no settlement/),
    });
  });
});

describe('wrong usage', () => {
  const evidence = (): string[] => ['--evidence', at('five.csv')];
  test.each<[string, () => string[], RegExp]>([
    ['no place for the salt', () => bill(7, ...evidence(), ...here()), /--salt-file, or give --out/],
    ['no evidence', () => bill(7), /Required option '--evidence/],
    ['an empty serial', () => bill(7, '--machine', ''), /is empty/],
    ['no number', () => bill(7, '--billed', 'many'), /“many” is not a whole number/],
    ['here and there', () => bill(7, ...evidence(), ...here(), ...there(), '--out', 'x'), /not both/],
    [
      'a class alone',
      () => bill(7, ...evidence(), '--out', 'x', '--settlement-class', 'x402_offer'),
      /Give the/,
    ],
    [
      'a settlement alone',
      () => bill(7, ...evidence(), '--out', 'x', '--settlement', 'x'),
      /--settlement-class/,
    ],
    [
      'a settlement of none',
      () => bill(7, ...evidence(), '--out', 'x', '--settlement', 'x', '--settlement-class', 'none'),
      /leave --settlement out/,
    ],
    ['a file that is not there', () => bill(7, '--evidence', 'x', ...here(), '--out', at('x')), /no file x/],
    ['no subcommand', () => ['meter', 'mnt'], /Did you mean mint\?/],
  ])('%s', async (_, args, message) => {
    expect(await tally(args())).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
    expect(existsSync(at('x.salt.json'))).toBe(false);
  });

  test.each<[string, string[], string]>([
    ['a window that has not closed', ['--to', '2999-01-01T00:00:00Z'], 'metering_compiled_early'],
    ['a window the wrong way round', ['--to', '2024-01-01T00:00:00Z'], 'metering_window'],
    ['more units than there can be', ['--billed', '10000001'], 'invalid_field'],
    ['a currency that is none', ['--currency', 'euro'], 'invalid_field'],
  ])('%s is refused alike here and there', async (_, change, code) => {
    for (const where of [here(), there()]) {
      const ran = await tally(bill(7, ...evidence(), ...where, '--out', at('x.json'), ...change, '--json'));
      expect({ exit: ran.code, ...JSON.parse(ran.stdout) }).toMatchObject({ exit: 1, error: { code } });
    }
  });
});

describe('a service that is none', () => {
  async function answering(
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<Ran> {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ran = await tally(
      bill(7, '--evidence', at('five.csv'), '--url', url, '--salt-file', at('foreign.salt.json')),
    );
    server.closeAllConnections();
    server.close();
    return ran;
  }

  test('the receipt of another bill is not handed on, and the salt is kept', async () => {
    const other = await answering((request, response) => {
      request.resume().on('end', () => response.end(readFileSync(at('bill.json'))));
    });
    expect(other).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/the receipt of another bill/),
    });
    expect(existsSync(at('foreign.salt.json'))).toBe(true);
  });

  test('a redirect is not followed', async () => {
    const elsewhere = await answering((_, response) => {
      response.writeHead(307, { location: service.url }).end();
    });
    expect(elsewhere).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/redirects elsewhere: give the service’s own URL/),
    });
  });
});

describe('200,000 leaves', () => {
  const COUNT = 200_000;
  const report = `data:text/javascript,process.on('exit',()=>process._rawDebug('rss '+process.resourceUsage().maxRSS))`;
  const measured = async (args: readonly string[]): Promise<Ran & { rss: number }> => {
    const command = [process.execPath, '--import', report, bin];
    const ran = await run(args, { command, env: { TALLY_HOME: home } });
    return { ...ran, rss: Number(/rss (\d+)/.exec(ran.stderr)?.[1]) / 1024 };
  };

  beforeAll(async () => {
    const file = createWriteStream(at('many.csv'));
    file.write('unit,receipt_sha256\n');
    for (let unit = 1; unit <= COUNT; unit++) file.write(`${unit},${hash(unit)}\n`);
    await new Promise<void>((resolve) => file.end(resolve));
  });

  test.each([
    ['here', here],
    ['by the service', there],
  ] as const)('minted %s and verified in bounded memory', async (name, where) => {
    const out = at(`many-${name.length}.json`);
    const few = await measured(
      bill(7, '--evidence', at('five.csv'), ...where(), '--salt-file', `${out}.few`),
    );
    const many = await measured(bill(COUNT, '--evidence', at('many.csv'), ...where(), '--out', out));
    const checked = await measured(['meter', 'verify', out, '--evidence', at('many.csv')]);
    expect([many.code, checked.code]).toEqual([0, name === 'here' ? 3 : 0]);
    expect(checked.stdout).toContain('100 % of 200,000 pallet_moved');
    for (const { rss } of [many, checked]) expect(rss - few.rss).toBeLessThan(128);
  });

  test('a refusal comes through while the rest is still being sent', async () => {
    const rest = Array.from({ length: COUNT }, (_, index) => leaf(index + 2));
    writeFileSync(at('twice.ndjson'), leaves(1, 1) + rest.join(''));
    const args = bill(COUNT, '--evidence', at('twice.ndjson'), ...there(), '--out', at('twice.json'));
    expect(await tally(args)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/line 2\.unit is 1, which already has evidence/),
    });
  });
});
