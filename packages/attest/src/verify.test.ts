import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { TallyError } from '@tallystick/core';
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { certificatesIn } from './certificates.ts';
import { AMD_ROOTS } from './sev-snp.ts';
import { verifyAttestation } from './verify.ts';

const AT = Date.parse('2026-10-01T00:00:00Z');
const read = (name: string): Buffer =>
  readFileSync(new URL(`../../../spec/vectors/attestation/${name}`, import.meta.url));
const judge = (bytes: Uint8Array, at = AT) => verifyAttestation(bytes, { at });
const broken = (bytes: Uint8Array, at = AT): string[] =>
  judge(bytes, at)
    .checks.filter(({ ok }) => ok === false)
    .map(({ name }) => name);

/** The one device of the vectors of NVIDIA, with its certificates and its report in base64. */
const gpu = () =>
  (JSON.parse(read('nvidia.json').toString()) as [{ certificate: string; evidence: string }])[0];
const list = (...devices: unknown[]): Buffer => Buffer.from(JSON.stringify(devices));

describe('evidence that machines signed', () => {
  test.each([
    ['sev-snp.bin', 'sev-snp', '7a1e5c266c0108db', 'd447b55d197491bf', []],
    ['sev-snp-debug.bin', 'sev-snp', 'b07af9620f3b839b', '0102030405000000', ['debug']],
    ['tdx.bin', 'tdx', '6363b8043668a3ad', '6c62dec1b8191749', []],
    ['tdx-v5.bin', 'tdx', '2a674327c50218db', '2945321c99222c36', []],
    ['nitro.bin', 'nitro', '8bb159f202bb95d6', null, []],
    ['nitro-debug.bin', 'nitro', '0000000000000000', null, ['debug']],
    ['nvidia.json', 'nvidia', null, '931d8dd0add203ac', []],
  ])('%s', (file, type, measurement, reportData, faults) => {
    const verdict = judge(read(file));
    expect(broken(read(file))).toEqual(faults);
    expect(verdict).toMatchObject({ type, genuine: faults.length === 0, bound: null });
    expect(verdict.attestation).toMatch(new RegExp(`^${type}:sha256:[0-9a-f]{64}$`));
    const [statement] = verdict.statements;
    expect(statement?.measurement?.slice(0, 16) ?? null).toBe(measurement);
    expect(statement?.reportData?.slice(0, 16) ?? null).toBe(reportData);
    expect(verdict.checks.filter(({ ok }) => ok === true).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['format', 'certificates', 'signature', 'vendor_rules']),
    );
  });

  describe('SEV-SNP with the table of an extended report', () => {
    const pem = read('sev-snp.bin');
    const certificates = certificatesIn(pem.toString('latin1')).map(({ raw }) => raw);
    const extended = (...entries: readonly Buffer[]): Buffer => {
      const head = Buffer.alloc(24 * (entries.length + 1));
      let offset = head.length;
      for (const [index, { length }] of entries.entries()) {
        head.writeUInt32LE(offset, 24 * index + 16);
        head.writeUInt32LE(length, 24 * index + 20);
        offset += length;
      }
      return Buffer.concat([pem.subarray(0, 1184), head, ...entries, Buffer.alloc(100)]);
    };

    it('needs the certificates in it', () => {
      expect(broken(extended(...certificates))).toEqual([]);
      expect(() => judge(pem.subarray(0, 1184))).toThrow(/Append the VCEK/);
    });

    it('may hold what is no certificate', () => {
      // CertificateList, TBSCertList, its version and the rest of it (RFC 5280, section 5.1).
      const list = Buffer.from('300730050201013000', 'hex');
      expect(broken(extended(list, Buffer.from('{}'), ...certificates))).toEqual([]);
    });

    it('holds no more certificates than a chain can have', () => {
      const many = Array.from({ length: 21 }, (_, index) => certificates[index % 3] ?? pem);
      expect(() => judge(extended(...many))).toThrow(/at most 20 certificates/);
    });
  });

  test('of several GPUs, each of which must hold, and each of them once', () => {
    const device = gpu();
    expect(() => judge(list(device, device))).toThrow(/same device is in the list twice/);
    const [, ...others] = certificatesIn(Buffer.from(device.certificate, 'base64').toString());
    const certificate = Buffer.from(others.join('')).toString('base64');
    const { checks, statements } = judge(list(device, { ...device, certificate }));
    expect(statements).toHaveLength(2);
    expect(checks.find(({ name }) => name === 'signature')).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/^Device 2: /),
    });
  });
});

test('the pinned roots of AMD are those that AMD publishes', () => {
  const published =
    read('amd-roots.pem')
      .toString()
      .match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? [];
  const hashes = published.map((pem) =>
    new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase(),
  );
  expect(hashes).toEqual(AMD_ROOTS);
});

describe('what was changed is not genuine', () => {
  // The bytes that are signed, or that must match what is signed, and the signatures.
  const ranges = [
    ['sev-snp.bin', 0x00, 0x2a0, 1],
    ['sev-snp.bin', 0x2a0, 0x4a0, 1],
    ['tdx.bin', 0, 632, 1],
    ['tdx.bin', 636, 1218, 1],
    ['tdx-v5.bin', 0, 939, 1],
    ['nitro-debug.bin', 0, 4396, 13],
  ] as const;
  test.each(ranges)('%s, bytes %i to %i', (file, from, to, step) => {
    for (let at = from; at < to; at += step) {
      const bytes = Buffer.from(read(file));
      bytes[at] = (bytes[at] ?? 0) ^ 0x01;
      const faults = faultsOf(bytes);
      expect(faults, `byte ${at}`).toEqual(expect.arrayContaining([expect.stringMatching(/./)]));
      expect(faults, `byte ${at}`).not.toEqual(['debug']);
    }
  });

  test('a report of a GPU, byte by byte', () => {
    const device = gpu();
    const report = Buffer.from(device.evidence, 'base64');
    for (let at = 0; at < report.length; at += 11) {
      const changed = Buffer.from(report);
      changed[at] = (changed[at] ?? 0) ^ 0x01;
      const evidence = changed.toString('base64');
      expect(faultsOf(list({ ...device, evidence })), `byte ${at}`).not.toEqual([]);
    }
  });
});

describe('the rules of a vendor', () => {
  const QE_REPORT = 770;
  test.each([
    ['sev-snp.bin', 0x180, /firmware of the report is not that/],
    ['sev-snp.bin', 0x187, /firmware of the report is not that/],
    ['sev-snp.bin', 0x1a0, /chip of the report is not that/],
    ['sev-snp.bin', 0x1df, /chip of the report is not that/],
    ['tdx.bin', 48 + 64, /module is not Intel’s/],
    ['tdx.bin', 48 + 119, /module is not Intel’s/],
    ['tdx.bin', QE_REPORT + 128, /enclave is not Intel’s/],
    ['tdx.bin', QE_REPORT + 159, /enclave is not Intel’s/],
    ['tdx.bin', QE_REPORT + 256, /enclave is not Intel’s/],
    ['tdx.bin', QE_REPORT + 16, /enclave is not Intel’s/],
    ['tdx.bin', QE_REPORT + 55, /enclave is not Intel’s/],
    ['tdx.bin', QE_REPORT + 320, /does not name the key/],
    ['tdx.bin', QE_REPORT + 383, /does not name the key/],
  ])('%s with another byte %i', (file, at, detail) => {
    const bytes = Buffer.from(read(file));
    bytes[at] = (bytes[at] ?? 0) ^ 0x01;
    const { checks } = judge(bytes);
    expect(checks.find(({ name }) => name === 'vendor_rules')).toMatchObject({
      ok: false,
      detail: expect.stringMatching(detail),
    });
  });

  test.each([
    ['sev-snp.bin', 0x0a, 0x08],
    ['tdx.bin', 48 + 120, 0x01],
    ['tdx.bin', 48 + 120, 0x20],
  ])('%s: debug mode is told by a bit of byte %i', (file, at, bit) => {
    const bytes = Buffer.from(read(file));
    bytes[at] = (bytes[at] ?? 0) | bit;
    expect(broken(bytes)).toEqual(['signature', 'debug']);
  });

  test.each([
    ['sev-snp.bin', 0x0a, 0x04],
    ['tdx.bin', 48 + 123, 0x20],
    ['tdx-v5.bin', 48 + 6 + 123, 0x20],
  ])('%s: that an agent may move the machine is told by a bit of byte %i', (file, at, bit) => {
    const bytes = Buffer.from(read(file));
    bytes[at] = (bytes[at] ?? 0) | bit;
    expect(broken(bytes)).toEqual(['signature', 'migration']);
  });

  test.each([
    ['tdx.bin', 48],
    ['tdx-v5.bin', 48 + 6],
  ])('%s: that the host can cause exceptions is named, and is no fault', (file, body) => {
    const found = (bytes: Uint8Array) => judge(bytes).checks.find(({ name }) => name === 'exceptions');
    const bytes = Buffer.from(read(file));
    const attributes = bytes[body + 123] ?? 0;
    bytes[body + 123] = attributes | 0x10;
    expect(found(bytes)).toMatchObject({ ok: true });
    bytes[body + 123] = attributes & ~0x10;
    expect(found(bytes)).toMatchObject({ ok: null, detail: expect.stringMatching(/SEPT_VE_DISABLE/) });
    expect(broken(bytes).filter((name) => name !== 'signature')).toEqual([]);
    expect(found(read('sev-snp.bin'))).toBeUndefined();
  });

  test.each([
    [0, true, /highest level/],
    [2, null, /at VMPL 2/],
    [0xffff_ffff, null, /host asked/],
  ])('a report of level %i names it', (level, ok, detail) => {
    const bytes = Buffer.from(read('sev-snp.bin'));
    bytes.writeUInt32LE(level, 0x30);
    expect(judge(bytes).checks.find(({ name }) => name === 'privilege')).toMatchObject({
      ok,
      detail: expect.stringMatching(detail),
    });
  });

  test('a chip may be masked by zeros, and by no bit of the report', () => {
    const bytes = Buffer.from(read('sev-snp.bin'));
    bytes.fill(0, 0x1a0, 0x1e0);
    expect(broken(bytes)).toEqual(['signature']);
    bytes[0x1a0] = 1;
    bytes[0x48] = (bytes[0x48] ?? 0) | 0x02;
    expect(broken(bytes)).toEqual(['signature', 'vendor_rules']);
  });

  test.each([
    [1, /followed by no certificate of its key, SEV-VLEK/],
    [2, /signed by no key/],
    [7, /signed by no key/],
  ])('a report that names key %i needs its certificate', (signer, message) => {
    const bytes = Buffer.from(read('sev-snp.bin'));
    bytes[0x48] = signer << 2;
    expect(() => judge(bytes)).toThrow(message);
  });

  test('a quoting enclave in debug mode is not Intel’s', () => {
    const bytes = Buffer.from(read('tdx.bin'));
    bytes[QE_REPORT + 48] = (bytes[QE_REPORT + 48] ?? 0) | 0x02;
    expect(broken(bytes)).toEqual(['signature', 'vendor_rules']);
  });

  test('a certificate of Intel’s that is of no platform vouches for no quote', () => {
    const quote = read('tdx.bin').toString('latin1');
    const [leaf] = certificatesIn(quote);
    const der = Buffer.from(leaf?.raw ?? []);
    // The name of the SGX extension becomes another one; Intel's signature does not hold then, either.
    const at = der.indexOf(Buffer.from('06092a864886f84d010d01', 'hex'));
    expect(at).toBeGreaterThan(0);
    der[at + 2] = 0x2b;
    const lines = der.toString('base64').replace(/.{64}/g, '$&\n');
    const first = quote.indexOf('-----BEGIN CERTIFICATE-----\n') + 28;
    const bytes = Buffer.from(quote, 'latin1');
    bytes.write(lines, first, 'latin1');
    expect(judge(bytes).checks.find(({ name }) => name === 'vendor_rules')).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/not that of a platform/),
    });
  });

  test.each([
    ['is that of its certificate', 10, 0xff, /firmware of the response is not that/],
    ['is stated', 0, 0xff, /states no hash of its firmware/],
    ['is as long as a hash', 2, 4, /firmware of the response is not that/],
  ])('firmware of a GPU %s', (_, place, byte, detail) => {
    const device = gpu();
    const report = Buffer.from(device.evidence, 'base64');
    const field = report.lastIndexOf(Buffer.from([20, 0, 48, 0]));
    expect(field).toBeGreaterThan(0);
    report[field + place] = byte;
    const { checks } = judge(list({ ...device, evidence: report.toString('base64') }));
    expect(checks.find(({ name }) => name === 'vendor_rules')).toMatchObject({
      ok: false,
      detail: expect.stringMatching(detail),
    });
  });

  test.each([
    ['of another version of SPDM', 0],
    ['of another version in the response', 37],
    ['with another length of its opaque data', 4117 - 96 - 422 - 2],
  ])('a response of a GPU %s is refused', (_, place) => {
    const device = gpu();
    const report = Buffer.from(device.evidence, 'base64');
    report[place] = (report[place] ?? 0) ^ 0x03;
    expect(faultsOf(list({ ...device, evidence: report.toString('base64') }))).toEqual([
      'attestation_invalid',
    ]);
  });

  test('base64 of a GPU is exact', () => {
    const device = gpu();
    expect(faultsOf(list({ ...device, evidence: `${device.evidence}!` }))).toEqual(['attestation_invalid']);
  });
});

describe('certificates', () => {
  it('are judged at the time that is given, or that the evidence states', () => {
    expect(broken(read('sev-snp.bin'), Date.parse('2035-01-01T00:00:00Z'))).toEqual(['certificates']);
    expect(broken(read('tdx.bin'), Date.parse('2020-01-01T00:00:00Z'))).toEqual(['certificates']);
    expect(broken(read('nitro-debug.bin'), Date.parse('2035-01-01T00:00:00Z'))).toEqual(['debug']);
  });

  it('are not valid at a time after the last date there is', () => {
    expect(broken(read('sev-snp.bin'), Number.MAX_SAFE_INTEGER)).toEqual(['certificates']);
  });

  it('of another vendor, or without the root, vouch for nothing', () => {
    const report = read('sev-snp.bin');
    const without = report.toString('latin1').split('-----END CERTIFICATE-----');
    const noRoot = Buffer.from(
      `${without.slice(0, 2).join('-----END CERTIFICATE-----')}-----END CERTIFICATE-----`,
      'latin1',
    );
    expect(broken(noRoot)).toEqual(['certificates']);
    const tdx = read('tdx.bin').toString('latin1');
    const intels = tdx.slice(tdx.indexOf('-----BEGIN'), tdx.lastIndexOf('-----END CERTIFICATE-----') + 25);
    const certificate = Buffer.from(intels).toString('base64');
    expect(broken(list({ ...gpu(), certificate }))).toEqual(
      expect.arrayContaining(['certificates', 'signature']),
    );
  });

  it('of another machine do not fit: the chip and its firmware are others', () => {
    const [own, other] = [read('sev-snp.bin'), read('sev-snp-debug.bin')];
    const swapped = Buffer.concat([own.subarray(0, 1184), other.subarray(1184)]);
    expect(broken(swapped)).toEqual(['signature', 'vendor_rules']);
  });
});

describe('what is expected', () => {
  const bytes = read('tdx.bin');
  const [statement] = judge(bytes).statements;
  const measurement = statement?.measurement ?? '';
  const reportData = statement?.reportData ?? '';
  const attestation = judge(bytes).attestation;
  const publicKey = new Uint8Array(32).fill(7);

  test.each([
    [{ measurement }, []],
    [{ measurement: measurement.toUpperCase() }, []],
    [{ measurement: `00${measurement.slice(2)}` }, ['measurement']],
    [{ reportData: reportData.slice(0, 64) }, []],
    [{ reportData: '00' }, ['report_data']],
    [{ receipt: { attestation, publicKey } }, []],
    [{ receipt: { attestation: null, publicKey } }, ['receipt']],
    [{ receipt: { attestation: attestation.replace('tdx', 'sev-snp'), publicKey } }, ['receipt']],
  ])('%o', (expected, faults) => {
    const { checks, genuine, valid, bound } = verifyAttestation(bytes, { at: AT, ...expected });
    expect(checks.filter(({ ok }) => ok === false).map(({ name }) => name)).toEqual(faults);
    expect({ genuine, valid }).toEqual({ genuine: true, valid: faults.length === 0 });
    expect(bound).toBe('receipt' in expected ? false : null);
  });
});

describe('what is no evidence', () => {
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['zeros', Buffer.alloc(2000)],
    ['a JSON document', Buffer.from('{"evidence": 1}')],
    ['an empty list', Buffer.from('[]')],
    ['too much', Buffer.alloc(3 * 1024 * 1024)],
  ])('%s is refused', (_, bytes) => {
    expect(() => judge(bytes)).toThrow(expect.objectContaining({ code: 'attestation_invalid' }));
  });

  it.each(['sev-snp.bin', 'tdx.bin', 'nitro-debug.bin', 'nvidia.json'])(
    '%s that ends early never holds',
    (file) => {
      const bytes = read(file);
      // What follows the last certificate of the quote proves nothing.
      const proving = file === 'tdx.bin' ? bytes.lastIndexOf('-----END') : bytes.length - 2;
      for (let length = 0; length < proving; length += 37)
        expect(faultsOf(bytes.subarray(0, length)), `${length} bytes`).not.toEqual([]);
    },
  );

  test('a document of Nitro whose registers are of another hash', () => {
    const bytes = Buffer.from(read('nitro.bin'));
    bytes.write('SHA256', bytes.indexOf('SHA384'));
    expect(faultsOf(bytes)).toEqual(['attestation_invalid']);
  });

  test('a document of Nitro whose time is after the last date there is', () => {
    const bytes = Buffer.from(read('nitro-debug.bin'));
    const time = bytes.indexOf('timestamp') + 'timestamp'.length;
    expect(bytes[time]).toBe(0x1b);
    bytes.writeBigUInt64BE(BigInt(Number.MAX_SAFE_INTEGER), time + 1);
    expect(faultsOf(bytes)).toEqual(['attestation_invalid']);
  });

  it('never fails otherwise, whatever the bytes', () => {
    const files = ['sev-snp.bin', 'tdx.bin', 'nitro-debug.bin', 'nvidia.json'];
    const contents = new Map(files.map((file) => [file, read(file)]));
    const patches = fc.tuple(
      fc.constantFrom(...files),
      fc.nat(),
      fc.uint8Array({ minLength: 1, maxLength: 8 }),
    );
    fc.assert(
      fc.property(patches, ([file, place, patch]) => {
        const bytes = Buffer.from(contents.get(file) ?? []);
        const at = place % (bytes.length - patch.length);
        bytes.set(patch, at);
        faultsOf(bytes);
      }),
      { numRuns: 400 },
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => void faultsOf(bytes)));
  });
});

/** Names of the checks that are false, or the code of the refusal. Any other error is thrown. */
function faultsOf(bytes: Uint8Array): string[] {
  try {
    return broken(bytes);
  } catch (error) {
    if (error instanceof TallyError && /^(attestation_invalid|json_\w+)$/.test(error.code))
      return [error.code];
    throw error;
  }
}
