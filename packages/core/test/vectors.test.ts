import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { AnchorCase } from '../../../scripts/vectors/anchor-base.ts';
import type { AnchoredHashCase } from '../../../scripts/vectors/anchored-hash.ts';
import { buildVectors } from '../../../scripts/vectors/build.ts';
import type { CommitmentCase } from '../../../scripts/vectors/commitments.ts';
import type { Ed25519Case } from '../../../scripts/vectors/ed25519.ts';
import type { EncodingCase } from '../../../scripts/vectors/encodings.ts';
import type { ForeignCase } from '../../../scripts/vectors/foreign.ts';
import type { GateCase } from '../../../scripts/vectors/gate.ts';
import type { RecipientCase } from '../../../scripts/vectors/recipients.ts';
import type { SessionCase } from '../../../scripts/vectors/sessions.ts';
import type { StatementCase } from '../../../scripts/vectors/statements.ts';
import type { StreamCase } from '../../../scripts/vectors/streams.ts';
import type { TrustCase } from '../../../scripts/vectors/trust.ts';
import type { TrustChangeCase } from '../../../scripts/vectors/trust-changes.ts';
import type { TrustForkCase } from '../../../scripts/vectors/trust-forks.ts';
import { verifyForeign } from '../src/foreign/index.ts';
import {
  anchoredHash,
  applyStatement,
  canonicalize,
  checkIssuerDocument,
  checkTrustBundle,
  copyJson,
  createSigner,
  defaultEngine,
  fromBase64url,
  fromHex,
  fromMultibase,
  hkdfSha256,
  hmacSha256,
  type IssuerDocument,
  isCurrency,
  isObject,
  isRecipient,
  type JsonValue,
  judgeStream,
  parseJson,
  publicKeyOfDidKey,
  readSignedStatement,
  readStreamHead,
  seal,
  sha256,
  type TrustBundle,
  type TrustPin,
  toBase64url,
  toHex,
  trustOf,
  utf8,
  vanished,
  verifyCall,
  verifyEd25519,
  verifyTrustFork,
} from '../src/index.ts';
import {
  anchorCases,
  bytesOf,
  callFiles,
  callVectors,
  expectCall,
  expectExpected,
  inCore,
  outcome,
  readVectors,
  receiptCases,
  receiptFiles,
  settlementCases,
  stores,
} from './receipt-vectors.ts';

const spec = new URL('../../../spec/', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, spec), 'utf8');

const otherFiles = [
  'anchor-refs.json',
  'anchors.json',
  'anchored-hash.json',
  ...callFiles,
  'checkpoints.json',
  'commitments.json',
  'corrections.json',
  'currencies.json',
  'ed25519.json',
  'encodings.json',
  'foreign-acta.json',
  'foreign-dsse.json',
  'foreign-others.json',
  'foreign-tlog-proof.json',
  'foreign-x402.json',
  'issuer-stores.json',
  'json-gate.json',
  'keys.json',
  'message-signatures.json',
  'ml-dsa-cosignatures.json',
  'recipients.json',
  'session-hashes.json',
  'session-openings.json',
  'sessions.json',
  'settlements.json',
  'statements.json',
  'streams.json',
  'tlog-proofs.json',
  'trust.json',
  'trust-changes.json',
  'trust-forks.json',
  'witness-policies.json',
];

/** The vectors that are ours. Those in the folder `attestation` are of others, and read by the package attest. */
const files = readdirSync(new URL('vectors/', spec))
  .filter((name) => name !== 'attestation')
  .sort();

describe('the vector files', () => {
  test('are those that the generator writes, to the byte', async () => {
    const built = await buildVectors();
    expect([...built.keys()].sort()).toEqual(files);
    const drifted = [...built].filter(([name, text]) => text !== read(`vectors/${name}`));
    expect(drifted.map(([name]) => name)).toEqual([]);
  });

  test('are all read here', () => {
    expect(files).toEqual([...receiptFiles, ...otherFiles].sort());
  });

  test.each([...receiptFiles, ...otherFiles].filter((file) => file !== 'issuer-stores.json'))(
    '%s: names are unique',
    (file) => {
      const names = readVectors<{ name: string }>(file).map(({ name }) => name);
      expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    },
  );
});

describe.each(receiptFiles)('%s', (file) => {
  test.each(readVectors(file))('$name', async (vector) => {
    expectExpected(await inCore(vector), vector);
  });
});

test.each([...anchorCases, ...settlementCases])('$file: $name', async (vector) => {
  expectExpected(await inCore(vector), vector);
});

test.each(callVectors)('$file: $name', async (vector) => {
  const { request, response, receipt, now } = vector;
  const options = { now: Date.parse(now), trust: trustOf(stores[vector.trust]) };
  expectCall(await verifyCall({ request, response, receipt, ...options }), vector);
});

test.each(readVectors<GateCase>('json-gate.json'))('json-gate.json: $name', async (vector) => {
  const found = await outcome(() => ({ canonical: canonicalize(parseJson(bytesOf(vector))) }));
  expect(found).toEqual(vector.expected);
});

const decoders: Record<EncodingCase['encoding'], (text: string, length?: number) => Uint8Array> = {
  base64url: fromBase64url,
  hex: fromHex,
  multibase: fromMultibase,
  'did:key': publicKeyOfDidKey,
};

test.each(readVectors<EncodingCase>('encodings.json'))('encodings.json: $name', async (vector) => {
  const { encoding, text, length, expected } = vector;
  expect(await outcome(() => ({ hex: toHex(decoders[encoding](text, length)) }))).toEqual(expected);
});

test.each(readVectors<Ed25519Case>('ed25519.json'))('ed25519.json: $name', async (vector) => {
  const [key, message, signature] = [vector.public_key, vector.message, vector.signature].map((hex) =>
    fromHex(hex),
  );
  expect(await verifyEd25519(defaultEngine, key!, message!, signature!)).toBe(vector.expected.valid);
});

test.each(readVectors<{ name: string; seed: string; public_key: string; key_id: string }>('keys.json'))(
  'keys.json: $name',
  async ({ seed, public_key, key_id }) => {
    const signer = await createSigner(fromHex(seed, 32));
    expect([toBase64url(signer.publicKey), signer.keyId]).toEqual([public_key, key_id]);
  },
);

test.each(readVectors<RecipientCase>('recipients.json'))('recipients.json: $name', ({ text, valid }) => {
  expect(isRecipient(text)).toBe(valid);
});

test('currencies.json has what bills were written in, and no made-up code', () => {
  const codes = readVectors<{ name: string }>('currencies.json').map(({ name }) => name);
  expect(codes.every(isCurrency)).toBe(true);
  expect(codes).toEqual(expect.arrayContaining(['USD', 'EUR', 'JPY', 'DEM', 'HRK', 'XAU']));
  expect(['QQQ', 'AAA', 'BTC', 'usd', ''].filter((code) => isCurrency(code))).toEqual([]);
});

test.each(readVectors<CommitmentCase>('commitments.json'))('commitments.json: $name', (vector) => {
  const salt = fromHex(vector.salt, 32);
  const key = hkdfSha256(salt, new Uint8Array(32), utf8(`svc-metering-v1/${vector.label}`), 32);
  const found = {
    key: toHex(key),
    commitment: toHex(hmacSha256(key, utf8(vector.value))),
    salt_commitment: toHex(sha256(salt)),
  };
  expect(found).toEqual(vector.expected);
});

test.each(readVectors<AnchoredHashCase>('anchored-hash.json'))(
  'anchored-hash.json: $name',
  async (vector) => {
    const { document, expected } = vector;
    const found = await outcome(() => {
      const hash = anchoredHash(document);
      return { sha256: hash, canonical_sha256: toBase64url(fromHex(hash)) };
    });
    expect(expected).toMatchObject(found);
    const stated = 'anchored' in expected ? toHex(sha256(utf8(expected.anchored))) : undefined;
    expect(stated).toBe('sha256' in found ? found.sha256 : undefined);
  },
);

/** Checks a bundle and indexes its issuers; the pin to remember. */
async function trustIn({ bundle, now, pin, root }: TrustCase): Promise<object> {
  const checked = await checkTrustBundle(bundle, { now: Date.parse(now), pin: pin as TrustPin, root });
  trustOf(checked.bundle.issuers);
  return { pin: checked.pin };
}

test.each(readVectors<StreamCase>('streams.json'))(
  'streams.json: $name',
  async ({ heads, issuers, first, hashes, given, expected }) => {
    const trust = issuers && trustOf(issuers);
    const judged = async () => {
      const read = await Promise.all(heads.map((head) => readStreamHead(head, { trust })));
      const receipts = given.map(({ sha256, issued_at }) => ({ sha256, issuedAt: issued_at }));
      const verdict = judgeStream({ heads: read, from: first - 1, hashes, given: receipts });
      const { complete, faults, given: counted, uncounted } = verdict;
      const named = faults.map(({ kind, index, sha256 }) => ({ kind, index, sha256 }));
      return { complete, faults: named, given: counted, uncounted };
    };
    expect(await outcome(judged)).toEqual(expected);
  },
);

test.each(readVectors<TrustCase>('trust.json'))('trust.json: $name', async (vector) => {
  expect(await outcome(() => trustIn(vector))).toEqual(vector.expected);
});

test.each(readVectors<TrustChangeCase>('trust-changes.json'))('trust-changes.json: $name', (vector) => {
  const [earlier, later] = [vector.earlier, vector.later] as unknown as [TrustBundle, TrustBundle];
  expect(vanished(earlier, later)).toEqual(vector.expected);
});

test.each(readVectors<TrustForkCase>('trust-forks.json'))('trust-forks.json: $name', async (vector) => {
  const proven = async (): Promise<object> => {
    const { root, kind, bundles } = await verifyTrustFork(vector.file);
    return { root, kind, versions: bundles.map(({ version }) => version) };
  };
  expect(await outcome(proven)).toEqual(vector.expected);
});

/** The record after a history, of which all but the last statement must be accepted; or a published record. */
async function recordIn({ history, document }: StatementCase): Promise<object> {
  if (history === undefined) {
    await checkIssuerDocument(document);
    return { record: document };
  }
  let record: IssuerDocument | null = null;
  for (const signed of history.slice(0, -1)) {
    record = await applyStatement(record, readSignedStatement(signed));
  }
  const before = record;
  return outcome(async () => ({ record: await applyStatement(before, readSignedStatement(history.at(-1))) }));
}

test.each(readVectors<StatementCase>('statements.json'))('statements.json: $name', async (vector) => {
  const before = vector.history === undefined ? outcome(() => recordIn(vector)) : recordIn(vector);
  expect(await before).toEqual(vector.expected);
});

const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: false });
for (const file of readdirSync(new URL('schemas/', spec)))
  ajv.addSchema(JSON.parse(read(`schemas/${file}`)) as object);

function schema(name: string): ValidateFunction {
  const validate = ajv.getSchema(`${name}.schema.json`);
  if (validate === undefined) throw new Error(`There is no schema ${name}.`);
  return validate as ValidateFunction;
}

const allFamilies = [
  'envelope',
  'nano',
  'standard',
  'pq',
  'metering',
  'issue',
  'legacy',
  'benchmark',
  'status',
];

/** The schemas that a document may be held to: that of its family, or all where it has none. */
function schemasFor(document: JsonValue, family: string | null): string[] {
  if (family === null) return allFamilies;
  if (family !== 'profile') return [family];
  if (!isObject(document) || document.profile === 'nano') return ['nano'];
  return [document.receipt_profile === 'pq' ? 'pq' : 'standard'];
}

describe('schemas', () => {
  const judged = receiptCases.flatMap((vector) => {
    const { file, name, expected } = vector;
    if ('code' in expected) return [];
    const value = parseJson(bytesOf(vector));
    const hasForm = !expected.failed_checks.includes('format');
    return [{ file, name, value, hasForm, schemas: schemasFor(value, expected.family) }];
  });

  test.each(judged)('$file: $name', ({ value, hasForm, schemas }) => {
    const accepting = schemas.filter((name) => schema(name)(value));
    expect(accepting).toEqual(hasForm ? schemas : []);
  });

  test.each(readVectors<TrustCase>('trust.json'))('trust.json: $name', ({ bundle, name }) => {
    expect(schema('trust-bundle')(bundle)).toBe(!name.startsWith('form: '));
  });

  test.each(anchorCases.filter(({ anchor }) => anchor))('anchors.json: $name', ({ anchor, name }) => {
    const accepting = ['anchored', 'pending-anchor'].filter((one) => schema(one)(anchor));
    const kind = name.includes('pending') ? 'pending-anchor' : 'anchored';
    expect(accepting).toEqual(name.startsWith('form: ') ? [] : [kind]);
  });

  const statements = readVectors<StatementCase>('statements.json');
  const histories = statements.flatMap(({ name, history }) =>
    history === undefined ? [] : [{ name, history }],
  );
  test.each(histories)('statements.json: $name', ({ name, history }) => {
    expect(schema('issuer-statement')(history.at(-1))).toBe(!name.startsWith('form: '));
  });

  const records = statements.flatMap(({ name, expected }) =>
    'record' in expected ? [{ name, ...expected }] : [],
  );
  test.each(records)('statements.json, record after: $name', ({ record }) => {
    expect(schema('issuer')(record)).toBe(true);
  });

  const whole = readVectors<SessionCase>('sessions.json').filter(({ expected }) => expected.integrity);
  test.each(whole)('sessions.json: $name', ({ file }) => {
    for (const line of file.split('\n').slice(0, -1)) {
      const receipt = JSON.parse(line) as { call: { session: object } };
      expect(schema('envelope')(receipt)).toBe(true);
      const { session: _session, ...call } = receipt.call;
      expect(schema('envelope')({ ...receipt, call })).toBe(false);
    }
  });

  test('a verdict has the form of verification.schema.json', async () => {
    for (const vector of readVectors('metering.json').slice(0, 40)) {
      expect(schema('verification')(copyJson(await inCore(vector)))).toBe(true);
    }
    for (const { file, keys, now } of readVectors<ForeignCase>('foreign-acta.json')) {
      const verdict = await verifyForeign(file, { now: Date.parse(now), keys });
      expect(schema('verification')(copyJson(verdict))).toBe(true);
    }
    expect(schema('verification')({ valid: true })).toBe(false);
  });

  test('a sealed document has the form of sealed.schema.json', async () => {
    for (let length = 0; length < 4; length++) {
      const sealed = await seal(new Uint8Array(length), new Uint8Array(32));
      expect(schema('sealed')(sealed)).toBe(true);
      expect(schema('sealed')({ ...sealed, note: 1 })).toBe(false);
      expect(schema('sealed')({ ...sealed, ciphertext: sealed.ciphertext.slice(0, 20) })).toBe(false);
    }
  });
});

/** A block of a specification page that follows `<!-- <file>: <name> -->` shows that vector's document. */
const shown = readdirSync(spec)
  .filter((page) => page.endsWith('.md'))
  .flatMap((page) =>
    [...read(page).matchAll(/<!-- (\w+)\.json: (.+?) -->\n```json\n(.*?)```/gs)].map(
      ([, file = '', name = '', text = '']) => ({ page, file, name, text }),
    ),
  );

describe('worked examples', () => {
  test('are found', () => {
    expect(new Set(shown.map(({ page }) => page))).toEqual(
      new Set(['anchor.md', 'metering.md', 'receipts.md', 'trust.md']),
    );
  });

  test.each(shown)('$page shows $file.json: $name', ({ file, name, text }) => {
    const vector = readVectors<AnchorCase & StatementCase>(`${file}.json`).find((one) => one.name === name);
    expect(vector?.anchor ?? vector?.document ?? vector?.history?.[0]).toEqual(JSON.parse(text));
  });
});
