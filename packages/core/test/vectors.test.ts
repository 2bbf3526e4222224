import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { AnchoredHashCase } from '../../../scripts/vectors/anchored-hash.ts';
import { buildVectors } from '../../../scripts/vectors/build.ts';
import type { ReceiptCase } from '../../../scripts/vectors/cases.ts';
import type { CommitmentCase } from '../../../scripts/vectors/commitments.ts';
import type { Ed25519Case } from '../../../scripts/vectors/ed25519.ts';
import type { EncodingCase } from '../../../scripts/vectors/encodings.ts';
import type { GateCase } from '../../../scripts/vectors/gate.ts';
import type { StatementCase } from '../../../scripts/vectors/statements.ts';
import type { TrustCase } from '../../../scripts/vectors/trust.ts';
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
  type IssuerRecord,
  isObject,
  type JsonValue,
  parseJson,
  publicKeyOfDidKey,
  readSignedStatement,
  seal,
  sha256,
  TallyError,
  toBase64url,
  toHex,
  trustOf,
  utf8,
  type Verification,
  verify,
  verifyEd25519,
} from '../src/index.ts';

const spec = new URL('../../../spec/', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, spec), 'utf8');
const vectors = <Case>(file: string): Case[] => JSON.parse(read(`vectors/${file}`)) as Case[];

const receiptFiles = [
  'countersignatures.json',
  'envelope.json',
  'issue.json',
  'issuers.json',
  'legacy.json',
  'metering.json',
  'nano.json',
  'pq.json',
  'raw.json',
  'standard.json',
];
const otherFiles = [
  'anchored-hash.json',
  'commitments.json',
  'ed25519.json',
  'encodings.json',
  'issuer-stores.json',
  'json-gate.json',
  'keys.json',
  'statements.json',
  'trust.json',
];

/** What was thrown, by its code; anything but a TallyError is a fault and is thrown on. */
async function outcome<T>(act: () => T | Promise<T>): Promise<T | { code: string }> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof TallyError) return { code: error.code };
    throw error;
  }
}

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(Buffer.from(base64, 'base64'));

describe('the vector files', () => {
  test('are those that the generator writes, to the byte', async () => {
    const built = await buildVectors();
    expect([...built.keys()].sort()).toEqual(readdirSync(new URL('vectors/', spec)).sort());
    const drifted = [...built].filter(([name, text]) => text !== read(`vectors/${name}`));
    expect(drifted.map(([name]) => name)).toEqual([]);
  });

  test('are all read here', () => {
    expect(readdirSync(new URL('vectors/', spec)).sort()).toEqual([...receiptFiles, ...otherFiles].sort());
  });

  test.each([...receiptFiles, ...otherFiles].filter((file) => file !== 'issuer-stores.json'))(
    '%s: names are unique',
    (file) => {
      const names = vectors<{ name: string }>(file).map(({ name }) => name);
      expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    },
  );
});

const stores = JSON.parse(read('vectors/issuer-stores.json')) as Record<string, IssuerRecord[]>;

async function verdictOn(vector: ReceiptCase): Promise<Verification> {
  const { raw_base64: raw, anchored_at: anchoredAt } = vector;
  const document: unknown = raw === undefined ? vector.document : parseJson(bytesOf(raw));
  return verify(document, {
    now: Date.parse(vector.now),
    trust: trustOf(stores[vector.trust] ?? []),
    evidence: vector.evidence,
    anchoredAt: anchoredAt === undefined ? undefined : Date.parse(anchoredAt),
  });
}

const namesOf = (verdict: Verification, ok: boolean | null): string[] =>
  verdict.checks
    .filter((check) => check.ok === ok)
    .map(({ name }) => name)
    .sort();

/** The verdict in the terms of `expected`. */
function summary(verdict: Verification, expected: ReceiptCase['expected']): object {
  const { valid, integrity, issuer, family } = verdict;
  const compared = {
    valid,
    integrity,
    trusted: issuer.trusted,
    family,
    failed_checks: namesOf(verdict, false),
  };
  const comparesNulls = 'null_checks' in expected;
  return comparesNulls ? { ...compared, null_checks: namesOf(verdict, null) } : compared;
}

function sorted(expected: ReceiptCase['expected']): object {
  if ('code' in expected) return expected;
  const { failed_checks, null_checks } = expected;
  const nulls = null_checks === undefined ? {} : { null_checks: null_checks.toSorted() };
  return { ...expected, failed_checks: failed_checks.toSorted(), ...nulls };
}

describe.each(receiptFiles)('%s', (file) => {
  test.each(vectors<ReceiptCase>(file))('$name', async (vector) => {
    const verdict = await outcome(() => verdictOn(vector));
    const found = 'code' in verdict ? verdict : summary(verdict, vector.expected);
    expect(found).toEqual(sorted(vector.expected));
  });
});

test.each(vectors<GateCase>('json-gate.json'))('json-gate.json: $name', async ({ raw_base64, expected }) => {
  const found = await outcome(() => ({ canonical: canonicalize(parseJson(bytesOf(raw_base64))) }));
  expect(found).toEqual(expected);
});

const decoders: Record<EncodingCase['encoding'], (text: string, length?: number) => Uint8Array> = {
  base64url: fromBase64url,
  hex: fromHex,
  multibase: fromMultibase,
  'did:key': publicKeyOfDidKey,
};

test.each(vectors<EncodingCase>('encodings.json'))('encodings.json: $name', async (vector) => {
  const { encoding, text, length, expected } = vector;
  expect(await outcome(() => ({ hex: toHex(decoders[encoding](text, length)) }))).toEqual(expected);
});

test.each(vectors<Ed25519Case>('ed25519.json'))('ed25519.json: $name', async (vector) => {
  const [key, message, signature] = [vector.public_key, vector.message, vector.signature].map((hex) =>
    fromHex(hex),
  );
  expect(await verifyEd25519(defaultEngine, key!, message!, signature!)).toBe(vector.expected.valid);
});

test.each(vectors<{ name: string; seed: string; public_key: string; key_id: string }>('keys.json'))(
  'keys.json: $name',
  async ({ seed, public_key, key_id }) => {
    const signer = await createSigner(fromHex(seed, 32));
    expect([toBase64url(signer.publicKey), signer.keyId]).toEqual([public_key, key_id]);
  },
);

test.each(vectors<CommitmentCase>('commitments.json'))('commitments.json: $name', (vector) => {
  const salt = fromHex(vector.salt, 32);
  const key = hkdfSha256(salt, new Uint8Array(32), utf8(`svc-metering-v1/${vector.label}`), 32);
  const found = {
    key: toHex(key),
    commitment: toHex(hmacSha256(key, utf8(vector.value))),
    salt_commitment: toHex(sha256(salt)),
  };
  expect(found).toEqual(vector.expected);
});

test.each(vectors<AnchoredHashCase>('anchored-hash.json'))('anchored-hash.json: $name', async (vector) => {
  const { document, expected } = vector;
  const found = await outcome(() => {
    const hash = anchoredHash(document);
    return { sha256: hash, canonical_sha256: toBase64url(fromHex(hash)) };
  });
  expect(expected).toMatchObject(found);
  const stated = 'anchored' in expected ? toHex(sha256(utf8(expected.anchored))) : undefined;
  expect(stated).toBe('sha256' in found ? found.sha256 : undefined);
});

/** Checks a bundle and indexes its issuers; the pin to remember. */
async function trustIn({ bundle, now, pin, root }: TrustCase): Promise<object> {
  const checked = await checkTrustBundle(bundle, { now: Date.parse(now), pin, root });
  trustOf(checked.bundle.issuers);
  return { pin: checked.pin };
}

test.each(vectors<TrustCase>('trust.json'))('trust.json: $name', async (vector) => {
  expect(await outcome(() => trustIn(vector))).toEqual(vector.expected);
});

/** The record after a history, of which all but the last statement must be accepted; or a published record. */
async function recordIn({ history, document }: StatementCase): Promise<object> {
  if (history === undefined) {
    await checkIssuerDocument(document as unknown as IssuerDocument);
    return { record: document };
  }
  let record: IssuerDocument | null = null;
  for (const signed of history.slice(0, -1)) {
    record = await applyStatement(record, readSignedStatement(signed));
  }
  const before = record;
  return outcome(async () => ({ record: await applyStatement(before, readSignedStatement(history.at(-1))) }));
}

test.each(vectors<StatementCase>('statements.json'))('statements.json: $name', async (vector) => {
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

const allFamilies = ['envelope', 'nano', 'standard', 'pq', 'metering', 'issue', 'legacy'];

/** The schemas that a document may be held to: that of its family, or all where it has none. */
function schemasFor(document: JsonValue, family: string | null): string[] {
  if (family === null) return allFamilies;
  if (family !== 'profile') return [family];
  if (!isObject(document) || document.profile === 'nano') return ['nano'];
  return [document.receipt_profile === 'pq' ? 'pq' : 'standard'];
}

describe('schemas', () => {
  const cases = receiptFiles.flatMap((file) =>
    vectors<ReceiptCase>(file).map((vector) => ({ file, ...vector })),
  );
  const judged = cases.flatMap(({ file, name, document, raw_base64: raw, expected }) => {
    if ('code' in expected) return [];
    const value = raw === undefined ? (document ?? null) : parseJson(bytesOf(raw));
    const hasForm = !expected.failed_checks.includes('format');
    return [{ file, name, value, hasForm, schemas: schemasFor(value, expected.family) }];
  });

  test.each(judged)('$file: $name', ({ value, hasForm, schemas }) => {
    const accepting = schemas.filter((name) => schema(name)(value));
    expect(accepting).toEqual(hasForm ? schemas : []);
  });

  test.each(vectors<TrustCase>('trust.json'))('trust.json: $name', ({ bundle, name }) => {
    expect(schema('trust-bundle')(bundle)).toBe(!name.startsWith('form: '));
  });

  const statements = vectors<StatementCase>('statements.json');
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

  test('a verdict has the form of verification.schema.json', async () => {
    for (const vector of vectors<ReceiptCase>('metering.json').slice(0, 40)) {
      expect(schema('verification')(copyJson(await verdictOn(vector)))).toBe(true);
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
      new Set(['metering.md', 'receipts.md', 'trust.md']),
    );
  });

  test.each(shown)('$page shows $file.json: $name', ({ file, name, text }) => {
    const vector = vectors<ReceiptCase & StatementCase>(`${file}.json`).find((one) => one.name === name);
    expect(vector?.document ?? vector?.history?.[0]).toEqual(JSON.parse(text));
  });
});
