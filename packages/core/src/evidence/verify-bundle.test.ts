import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  AT,
  billAt,
  goodFiles,
  type Made,
  makeIssuer,
  manifestOf,
  partOf,
  purgeRecord,
  receiptAt,
  sourceOf,
  trustLike,
  zipOf,
} from '../../test/evidence-bundle.ts';
import { concatBytes, utf8 } from '../encoding/bytes.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalize } from '../json/canonical.ts';
import { copyJson } from '../json/copy.ts';
import { bundleHash, rootFingerprint, type TrustBundle } from '../trust/bundle.ts';
import type { ManifestFacts } from './document.ts';
import { EVIDENCE_REASONS, EvidenceFault, type EvidenceReason } from './fault.ts';
import { verifyBundle } from './verify-bundle.ts';
import { ZIP } from './zip-layout.ts';

type Issuer = Awaited<ReturnType<typeof makeIssuer>>;
type Change = (facts: ManifestFacts) => ManifestFacts;

let own: Issuer;
let files: Made[];
let good: Uint8Array;
beforeAll(async () => {
  own = await makeIssuer();
  files = await goodFiles(own);
  good = await signed(files);
});

const NOW = { now: AT + 1000 };
const signed = async (made: readonly Made[], change?: Change, issuer = own): Promise<Uint8Array> =>
  zipOf([...made, await manifestOf(issuer, made, change)]);

async function reasonOf(bytes: Uint8Array): Promise<EvidenceReason | 'none'> {
  try {
    await verifyBundle(sourceOf(bytes), NOW);
    return 'none';
  } catch (error) {
    if (error instanceof EvidenceFault) return error.reason;
    throw error;
  }
}

describe('a bundle', () => {
  it('verifies, and says whose root it is by', async () => {
    const root = rootFingerprint(own.root.publicKey);
    const verdict = await verifyBundle(sourceOf(good), NOW);
    expect(verdict).toMatchObject({
      receipts: 4,
      metering: 1,
      anchored: 0,
      untrusted: 0,
      purged: 4,
      root,
      trusted: false,
    });
    expect((await verifyBundle(sourceOf(good), { ...NOW, roots: [root] })).trusted).toBe(true);
    expect(
      (await verifyBundle(sourceOf(good), { ...NOW, roots: [`sha256:${'0'.repeat(64)}`] })).trusted,
    ).toBe(false);
  });

  it('verifies with its manifest first, as in the first bundles', async () => {
    expect((await verifyBundle(sourceOf(zipOf([await manifest(), ...files])), NOW)).receipts).toBe(4);
  });

  it('verifies long after its trust bundle has expired', async () => {
    expect((await verifyBundle(sourceOf(good), { now: AT + 10 * 365 * 86_400_000 })).receipts).toBe(4);
  });

  it('says how many of its receipts are by a key that the trust bundle does not vouch for', async () => {
    const burnt = await makeIssuer('burnt', '2027-02-28T12:00:00Z');
    const verdict = await verifyBundle(sourceOf(await signed(await goodFiles(burnt), same, burnt)), NOW);
    expect(verdict).toMatchObject({ receipts: 4, untrusted: 4 });
  });

  it('is refused where its manifest is signed by a key that is known to be compromised, whenever it says that it was made', async () => {
    const burnt = await makeIssuer('burnt', '2027-03-10T00:00:00Z', 'bundle');
    const bytes = await signed(await goodFiles(burnt), same, burnt);
    await expect(verifyBundle(sourceOf(bytes), NOW)).rejects.toMatchObject({
      reason: 'manifest_issuer',
      message: expect.stringContaining('The key was compromised'),
    });
  });

  it('verifies with records of purges by a key that was compromised since, if its manifest names them', async () => {
    const burnt = await makeIssuer('own', '2027-03-10T00:00:00Z', 'bundle');
    const { bundle, trust: withKey } = await makeIssuer('next');
    const key = JSON.parse(withKey).issuers[0].keys[1];
    const [issuer] = JSON.parse(burnt.trust).issuers;
    const trust = await trustLike(burnt, { issuers: [{ ...issuer, keys: [...issuer.keys, key] }] });
    const made = (await goodFiles(burnt)).map((file) =>
      file.path === 'trust/trust.json' ? { ...file, bytes: utf8(canonicalize(copyJson(trust))) } : file,
    );
    expect(await reasonOf(await signed(made, same, { ...burnt, bundle }))).toBe('none');
  });

  it('is refused before the time at which it says that it was made', async () => {
    const early = verifyBundle(sourceOf(good), { now: AT - 301_000 });
    await expect(early).rejects.toMatchObject({ reason: 'manifest_malformed' });
    await expect(verifyBundle(sourceOf(good), { now: AT - 299_000 })).resolves.toMatchObject({ receipts: 4 });
  });

  it('is refused where its trust bundle and a given one make a fork', async () => {
    const roots = [rootFingerprint(own.root.publicKey)];
    const twin = await trustLike(own, { issuedAt: AT - 1000 });
    const next = await trustLike(own, { version: 4, previous_sha256: bundleHash(twin) });
    for (const given of [twin, next]) {
      const judged = verifyBundle(sourceOf(good), { ...NOW, roots, bundles: [given] });
      await expect(judged).rejects.toMatchObject({ reason: 'trust_refused', path: 'trust/trust.json' });
    }
    const after = await trustLike(own, { version: 4, previous_sha256: bundleHash(JSON.parse(own.trust)) });
    const verdict = await verifyBundle(sourceOf(good), { ...NOW, roots, bundles: [after] });
    expect(verdict).toMatchObject({ trusted: true });
  });

  it('is refused where its trust bundle takes back a revocation of an earlier one that was given', async () => {
    const [issuer] = (JSON.parse(own.trust) as TrustBundle).issuers;
    const revoked = { at: '2027-01-01T00:00:00Z', reason: 'compromised' as const };
    const keys = issuer!.keys.map((key) => ({ ...key, state: 'revoked' as const, revoked }));
    const strict = await trustLike(own, { version: 1, issuers: [{ ...issuer!, keys }] });
    const judged = verifyBundle(sourceOf(good), { ...NOW, bundles: [strict] });
    await expect(judged).rejects.toMatchObject({
      reason: 'trust_refused',
      message: expect.stringContaining('was taken back or weakened'),
    });
    const mild = await trustLike(own, { version: 1 });
    expect(await verifyBundle(sourceOf(good), { ...NOW, bundles: [mild] })).toMatchObject({ receipts: 4 });
  });

  it('is refused where its trust bundle says that there was none before it, and one is given', async () => {
    const first = await trustLike(own, { previous_sha256: null });
    const made = (await goodFiles(own)).map((file) =>
      file.path === 'trust/trust.json' ? { ...file, bytes: utf8(canonicalize(copyJson(first))) } : file,
    );
    const bytes = await signed(made, same, own);
    const earlier = await trustLike(own, { version: 1 });
    await expect(verifyBundle(sourceOf(bytes), { ...NOW, bundles: [earlier] })).rejects.toMatchObject({
      reason: 'trust_refused',
      message: expect.stringContaining('none before it'),
    });
    expect(await verifyBundle(sourceOf(bytes), { ...NOW, bundles: [first] })).toMatchObject({ receipts: 4 });
  });

  it('is refused with any one byte changed', async () => {
    const step = Math.max(1, Math.floor(good.length / 400));
    for (let at = 0; at < good.length; at += step) {
      const changed = Uint8Array.from(good);
      changed[at] = (changed[at] ?? 0) ^ 0x20;
      expect(await reasonOf(changed), `byte ${at}`).not.toBe('none');
    }
  });

  it('is refused wherever it breaks off', async () => {
    for (const length of [0, 1, 21, 22, 23, 400, good.length - 23, good.length - 1]) {
      expect(await reasonOf(good.subarray(0, length)), `${length} bytes`).toMatch(/^zip_/);
    }
  });
});

/** The archive with some bytes of the first entry that ends in `path` changed: in the directory, or before it. */
function patched(path: string, where: 'local' | 'central', offset: number, ...bytes: number[]): Uint8Array {
  const changed = Uint8Array.from(good);
  // The manifest names it too; before the bytes, the name stands after the date, checksum, sizes and lengths.
  const found =
    where === 'local'
      ? Buffer.from(good).indexOf(Buffer.from([path.length, 0, 0, 0, ...utf8(path)])) + 4
      : Buffer.from(good).lastIndexOf(path);
  changed.set(bytes, found - (where === 'local' ? ZIP.localBytes : ZIP.centralBytes) + offset);
  return changed;
}

const renamedAll = (from: string, to: string): Uint8Array =>
  Buffer.from(Buffer.from(good).toString('latin1').replaceAll(from, to), 'latin1');

const named = (path: string): Made => {
  const found = files.find((file) => file.path === path);
  if (found === undefined) throw new Error(path);
  return found;
};
const withFile = (path: string, bytes: Uint8Array): Made[] =>
  files.map((file) => (file.path === path ? { ...file, bytes } : file));
const without = (path: string): Made[] => files.filter((file) => file.path !== path);
const manifest = (): Promise<Made> => manifestOf(own, files);
const extra: Made = { path: 'notes.txt', bytes: utf8('hello') };
const same: Change = (facts) => facts;

/** What was done to a good bundle, and the reason that it is refused for. */
const CASES: readonly (readonly [
  what: string,
  reason: EvidenceReason,
  make: () => Promise<Uint8Array> | Uint8Array,
])[] = [
  [
    'a head that is none',
    'stream_invalid',
    () => signed([...files, { path: 'stream/heads.ndjson', bytes: utf8('{}\n') }]),
  ],
  ['something after its end', 'zip_end', () => concatBytes(good, utf8('!'))],
  ['not an archive', 'zip_end', () => utf8('{"type":"svc-evidence-v1"}'.padEnd(200))],
  [
    'more files declared than there are',
    'zip_count',
    () => {
      const changed = Uint8Array.from(good);
      changed.set([99, 0, 99, 0], good.length - 14);
      return changed;
    },
  ],
  [
    'a directory that is elsewhere',
    'zip_directory',
    () => {
      const changed = Uint8Array.from(good);
      changed[good.length - 6] = (changed[good.length - 6] ?? 0) ^ 1;
      return changed;
    },
  ],
  ['an entry with other attributes', 'zip_directory', () => patched('README.md', 'central', 38, 0xff)],
  ['a compressed entry', 'zip_compressed', () => patched('README.md', 'central', 10, 8)],
  ['an encrypted entry', 'zip_compressed', () => patched('README.md', 'central', 8, 1)],
  [
    'an entry that says it unpacks to 4 GB',
    'zip_size',
    () => patched('README.md', 'central', 24, 0xfe, 0xff, 0xff, 0xff),
  ],
  [
    'an entry that declares 4 GB twice',
    'zip_range',
    () => patched('README.md', 'central', 20, 0xfe, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff),
  ],
  ['an absolute name', 'zip_name_absolute', () => renamedAll('README.md', '/EADME.md')],
  ['a name on a drive', 'zip_name_absolute', () => renamedAll('README.md', 'C:ADME.md')],
  ['a name that leads out', 'zip_name_traversal', () => renamedAll('trust/trust.json', '../../trust.json')],
  [
    'a name that leads out by backslashes',
    'zip_name_traversal',
    () => renamedAll('trust/trust.json', '..\\st\\trust.json'),
  ],
  ['a name with a NUL', 'zip_name', () => renamedAll('README.md', 'READ\0E.md')],
  ['a file twice', 'zip_duplicate', async () => zipOf([await manifest(), ...files, named('README.md')])],
  [
    'a file twice but for case',
    'zip_duplicate',
    async () => zipOf([await manifest(), ...files, { ...extra, path: 'readme.MD' }]),
  ],
  [
    'two entries over the same bytes',
    'zip_overlap',
    () => {
      const changed = Uint8Array.from(good);
      const at = (name: string): number => Buffer.from(good).lastIndexOf(name) - ZIP.centralBytes;
      changed.copyWithin(at('trust/trust.json') + 42, at('README.md') + 42, at('README.md') + 46);
      return changed;
    },
  ],
  ['bytes between two files', 'zip_gap', async () => hidden()],
  [
    'another name before the bytes',
    'zip_header',
    () => patched('README.md', 'local', 30, 0x52, 0x45, 0x41, 0x44, 0x5f),
  ],
  ['another size before the bytes', 'zip_header', () => patched('README.md', 'local', 22, 1)],
  [
    'the manifest between others',
    'manifest_missing',
    async () => zipOf([...without('README.md'), await manifest(), named('README.md')]),
  ],
  ['no manifest', 'manifest_missing', () => zipOf(files)],
  [
    'a manifest of 65 MB',
    'manifest_size',
    () => zipOf([{ path: 'manifest.json', bytes: new Uint8Array(65 * 1_048_576) }, ...files]),
  ],
  [
    'a manifest that is no JSON',
    'manifest_malformed',
    () => zipOf([{ path: 'manifest.json', bytes: utf8('{') }, ...files]),
  ],
  [
    'a manifest of another form',
    'manifest_malformed',
    () => signed(files, (facts) => ({ ...facts, receipts: -1 })),
  ],
  [
    'a manifest with spaces',
    'manifest_malformed',
    async () => {
      const { bytes } = await manifest();
      return zipOf([{ path: 'manifest.json', bytes: concatBytes(bytes, utf8('\n')) }, ...files]);
    },
  ],
  [
    'a manifest changed after it was signed',
    'manifest_signature',
    async () => {
      const text = new TextDecoder().decode((await manifest()).bytes).replace('"receipts":4', '"receipts":5');
      return zipOf([{ path: 'manifest.json', bytes: utf8(text) }, ...files]);
    },
  ],
  [
    'a manifest by a stranger',
    'manifest_issuer',
    async () => {
      const stranger = await makeIssuer('stranger');
      return zipOf([await manifestOf({ ...own, bundle: stranger.bundle }, files), ...files]);
    },
  ],
  [
    'a manifest by a key that is for receipts',
    'manifest_issuer',
    async () => zipOf([await manifestOf({ ...own, bundle: own.receipt }, files), ...files]),
  ],
  ['a file removed', 'file_missing', async () => zipOf([await manifest(), ...without('README.md')])],
  [
    'the trust bundle removed',
    'file_missing',
    async () => zipOf([await manifest(), ...without('trust/trust.json')]),
  ],
  ['a file added', 'file_added', async () => zipOf([await manifest(), ...files, extra])],
  [
    'a file renamed',
    'file_renamed',
    async () =>
      zipOf([
        await manifest(),
        ...files.map((file) => (file.path === 'README.md' ? { ...file, path: 'README.txt' } : file)),
      ]),
  ],
  [
    'files in another order',
    'file_order',
    async () => {
      const [first, second, ...rest] = files;
      if (first === undefined || second === undefined) throw new Error('No files.');
      return zipOf([await manifest(), second, first, ...rest]);
    },
  ],
  [
    'a file made longer',
    'file_size',
    async () => zipOf([await manifest(), ...withFile('README.md', utf8('# Read me!\n'))]),
  ],
  [
    'a file changed',
    'file_changed',
    async () => zipOf([await manifest(), ...withFile('README.md', utf8('# Read ME\n'))]),
  ],
  ['one byte of a file changed', 'file_crc', () => renamedAll('# Read me', '# Read mE')],
  [
    'a changed trust bundle',
    'trust_refused',
    () => signed(withFile('trust/trust.json', utf8(own.trust.replace('"version":3', '"version":4')))),
  ],
  [
    'a trust bundle of another version, signed by the same root',
    'trust_refused',
    () =>
      signed(files, (facts) => ({ ...facts, trust: { ...facts.trust, version: facts.trust.version + 1 } })),
  ],
  [
    'the trust bundle of another root',
    'trust_refused',
    () =>
      signed(files, (facts) => ({ ...facts, trust: { ...facts.trust, root: `sha256:${'0'.repeat(64)}` } })),
  ],
  [
    'a receipt changed, and every hash made to fit',
    'receipt_invalid',
    async () => {
      const text = await receiptAt(own.receipt, AT / 1000 - 90_000, '00000000000a');
      return signed(parts(partOf(1, [text.replace('"ok":true', '"ok":false')])), counted(1, 0));
    },
  ],
  [
    'a receipt by a stranger',
    'receipt_invalid',
    async () => {
      const stranger = await makeIssuer('stranger');
      const text = await receiptAt(stranger.receipt, AT / 1000 - 90_000, '00000000000a');
      return signed(parts(partOf(1, [text])), counted(1, 0));
    },
  ],
  [
    'a receipt twice',
    'receipt_twice',
    async () => {
      const text = await receiptAt(own.receipt, AT / 1000 - 90_000, '00000000000a');
      return signed(parts(partOf(1, [text, text])), counted(2, 0));
    },
  ],
  [
    'a bill twice',
    'receipt_twice',
    async () => {
      const text = await billAt(own.receipt, AT / 1000 - 90_000);
      return signed(parts(partOf(1, [text, text])), counted(2, 2));
    },
  ],
  [
    'a receipt of another period',
    'receipt_period',
    async () => {
      const text = await receiptAt(own.receipt, AT / 1000, '00000000000a');
      return signed(parts(partOf(1, [text])), counted(1, 0));
    },
  ],
  ['fewer receipts than the manifest says', 'receipt_count', () => signed(files, counted(5, 1))],
  [
    'anchors of other receipts',
    'anchor_unmatched',
    async () => {
      const [receipts] = partOf(1, [await receiptAt(own.receipt, AT / 1000 - 90_000, '00000000000a')]);
      const [, anchors] = partOf(1, [await receiptAt(own.receipt, AT / 1000 - 90_000, '00000000000b')]);
      if (receipts === undefined || anchors === undefined) throw new Error('No parts.');
      return signed(parts([receipts, anchors]), counted(1, 0));
    },
  ],
  [
    'no anchors',
    'anchor_unmatched',
    async () => {
      const text = await receiptAt(own.receipt, AT / 1000 - 90_000, '00000000000a');
      return signed(parts(partOf(1, [text]).slice(0, 1)), counted(1, 0));
    },
  ],
  [
    'another metering digest',
    'metering_mismatch',
    async () => {
      const made = partOf(1, [await billAt(own.receipt, AT / 1000 - 90_000)]);
      return signed(
        parts(
          made.map((file) => (file.path.startsWith('metering/') ? { ...file, bytes: utf8('{}\n') } : file)),
        ),
        counted(1, 1),
      );
    },
  ],
  [
    'a purge record left out',
    'purge_invalid',
    async () => {
      const first = await purgeRecord(own, 1, null);
      const third = await purgeRecord(own, 3, sha256Hex(utf8(first)));
      return signed(withFile('purges.ndjson', utf8(`${first}\n${third}\n`)), same);
    },
  ],
  [
    'a purge record of another tenant',
    'purge_invalid',
    async () => {
      const foreign = await purgeRecord(own, 1, null, 't_aaaaaaaaaaaaaaaa');
      return signed(withFile('purges.ndjson', utf8(`${foreign}\n`)), same);
    },
  ],
  [
    'a purge record that the manifest dates otherwise',
    'purge_invalid',
    () =>
      signed(files, (facts) => ({
        ...facts,
        purged: facts.purged.map((one) => ({ ...one, purged_at: '2027-02-02T00:00:00Z' })),
      })),
  ],
  [
    'purge records in the manifest alone',
    'purge_invalid',
    () => {
      const listed = files.filter(({ path }) => path !== 'purges.ndjson');
      const record = { sequence: 1, purged_at: '2027-02-01T00:00:00Z', count: 9, ids_root: 'ab'.repeat(32) };
      const place = { receipt_id: 'r_nano_1', at: '2026-03-01T00:00:00Z' };
      return signed(listed, (facts) => ({ ...facts, purged: [{ ...record, first: place, last: place }] }));
    },
  ],
  [
    'a purge record that was changed',
    'purge_invalid',
    async () => {
      const changed = (await purgeRecord(own, 1, null)).replace('"count":2', '"count":1');
      return signed(withFile('purges.ndjson', utf8(`${changed}\n`)), same);
    },
  ],
];

/** The good bundle's files with other receipts. */
const parts = (made: readonly Made[]): Made[] => [
  ...files.filter(({ path }) => !/^(?:receipts|anchors|metering)\//.test(path)),
  ...made,
];
const counted =
  (receipts: number, metering: number): Change =>
  (facts) => ({ ...facts, receipts, metering });

/** A good bundle whose directory leaves out a file that is there. */
async function hidden(): Promise<Uint8Array> {
  const whole = [await manifest(), extra, ...files];
  const archive = zipOf(whole);
  const view = new DataView(archive.buffer);
  const directoryAt = view.getUint32(archive.length - 6, true);
  const directory = archive.subarray(directoryAt, archive.length - ZIP.endBytes);
  const at = Buffer.from(directory).indexOf('notes.txt') - ZIP.centralBytes;
  const rest = concatBytes(directory.subarray(0, at), directory.subarray(at + ZIP.centralBytes + 9));
  const end = Uint8Array.from(archive.subarray(archive.length - ZIP.endBytes));
  const endView = new DataView(end.buffer);
  for (const count of [8, 10]) endView.setUint16(count, whole.length - 1, true);
  endView.setUint32(12, rest.length, true);
  return concatBytes(archive.subarray(0, directoryAt), rest, end);
}

describe('a bundle is refused', () => {
  it.each(CASES)('with %s: %s', async (_, reason, make) => {
    expect(await reasonOf(await make())).toBe(reason);
  });

  it('for the reasons that spec/evidence.md lists, in its order', () => {
    const page = readFileSync(new URL('../../../../spec/evidence.md', import.meta.url), 'utf8');
    const listed = [...page.matchAll(/^\| `([a-z_]+)`\s+\|/gm)].map(([, reason]) => reason);
    expect(listed.slice(listed.indexOf('zip_end'))).toEqual(EVIDENCE_REASONS);
  });

  it('for every reason that there is', () => {
    expect(new Set(CASES.map(([, reason]) => reason))).toEqual(new Set(EVIDENCE_REASONS));
  });
});
