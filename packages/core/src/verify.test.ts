import { describe, expect, test } from 'vitest';
import { anchoredAt, anchors } from '../test/anchored-at.ts';
import {
  ISSUED,
  KINDS,
  type Kind,
  keyOf,
  NOW,
  recordOf,
  sampleReceipt,
  signAs,
  signerOf,
  without,
} from '../test/sample-receipts.ts';
import { nobleEngine, webCryptoEngine } from './ed25519/engines.ts';
import { canonicalBytes, canonicalize } from './json/canonical.ts';
import type { JsonObject, JsonValue } from './json/types.ts';
import { isObject } from './receipts/shape.ts';
import { formatTimestamp } from './time.ts';
import { bothTrusts, trustOf } from './trust/issuer.ts';
import { type Verification, verify } from './verify.ts';

const alice = await signerOf(1);
const bob = await signerOf(3);
const trust = trustOf([recordOf('did:svc:alice', keyOf(alice))]);
const check = (document: unknown, now = NOW): Promise<Verification> => verify(document, { now, trust });
const sample = (kind: Kind, changes: JsonObject = {}): Promise<JsonObject> =>
  sampleReceipt(kind, 'did:svc:alice', alice, changes);
const okOf = ({ checks }: Verification, name: string): boolean | null | undefined =>
  checks.find((c) => c.name === name)?.ok;

const families = {
  envelope: 'envelope',
  nano: 'profile',
  standard: 'profile',
  pq: 'profile',
  metering: 'metering',
  issue: 'issue',
  legacy: 'legacy',
};

describe.each(KINDS)('%s', (kind) => {
  test('gives one verdict on every engine, again and again', async () => {
    const document = await sample(kind);
    const verdicts = await Promise.all(
      [undefined, nobleEngine, webCryptoEngine].map((engine) =>
        verify(document, { now: NOW, trust, engine }),
      ),
    );
    for (const verdict of verdicts) expect(verdict).toEqual(verdicts[0]);
    expect(verdicts[0]).toMatchObject({
      valid: true,
      integrity: true,
      family: families[kind],
      issuer: {
        did: 'did:svc:alice',
        key_id: alice.keyId,
        trusted: true,
        status: 'verified',
        key_state: 'active',
      },
      verified_at: '2026-06-01T12:00:00Z',
    });
  });

  test('is not changed by being verified', async () => {
    const document = await sample(kind);
    const before = canonicalize(document);
    await check(Object.freeze(document));
    expect(canonicalize(document)).toBe(before);
  });

  test('an accident of one signature byte is integrity lost, by the signature check', async () => {
    const document = await sample(kind);
    const flipped = JSON.parse(
      JSON.stringify(document).replace(
        /"(sig_b64u|svc)":"(.)/,
        (_m, name: string, c: string) => `"${name}":"${c === 'A' ? 'B' : 'A'}`,
      ),
    ) as unknown;
    const verdict = await check(flipped);
    expect(verdict).toMatchObject({ valid: false, integrity: false, issuer: { trusted: false } });
    expect(okOf(verdict, 'signature')).toBe(false);
  });

  test('a getter that answers otherwise on each read fools nobody', async () => {
    const document = await sample(kind);
    for (const path of nested(document)) {
      for (const turn of [1, 2, 3, 4]) {
        const { changing, reads } = withGetter(document, path, turn);
        // Each member is read once: the first answer is the only one that counts.
        expect([path, (await check(changing)).valid]).toEqual([path, turn > 1]);
        expect(reads()).toBe(1);
      }
    }
  });

  test('a member that throws or is no JSON is refused as such', async () => {
    const document = await sample(kind);
    const get = (): never => {
      throw new RangeError('not today');
    };
    const throwing = Object.defineProperty({ ...document }, 'x', { enumerable: true, get });
    await expect(check(throwing)).rejects.toMatchObject({ code: 'json_not_plain' });
    for (const x of [undefined, () => 1, Symbol('x'), 1n, new Date(0), new Map(), Number.NaN]) {
      await expect(check({ ...document, x })).rejects.toMatchObject({ name: 'TallyError' });
    }
  });
});

/** The paths of all members, at any depth. */
function nested(value: JsonValue): string[][] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    [name],
    ...nested(member).map((rest) => [name, ...rest]),
  ]);
}

/** The document with the member at `path` as a getter that lies from the given read on. */
function withGetter(document: JsonObject, path: readonly string[], turn: number) {
  let reads = 0;
  const changing = structuredClone(document);
  const holder = path.slice(0, -1).reduce<JsonObject>((object, name) => object[name] as JsonObject, changing);
  const name = path.at(-1) ?? '';
  const honest = holder[name];
  const get = (): unknown => {
    reads += 1;
    return reads >= turn ? { other: true } : honest;
  };
  Object.defineProperty(holder, name, { enumerable: true, get });
  return { changing, reads: () => reads };
}

describe('what is no receipt', () => {
  test.each<[unknown]>([
    [null],
    [true],
    [7],
    ['text'],
    [[]],
    [{}],
    [{ v: 'svc-receipt-v2' }],
    [[{ v: 'svc-receipt-v1' }]],
    [{ signed_body: null }],
  ])('%j has no family', async (document) => {
    const verdict = await check(document);
    expect(verdict).toMatchObject({
      valid: false,
      integrity: false,
      family: null,
      profile: null,
      receipt_id: null,
    });
    expect(verdict.checks.map(({ name, ok }) => [name, ok])).toEqual([
      ['format', false],
      ['signature', null],
    ]);
  });

  test.each(KINDS)('%s without any one of its members says so, or is that of nobody', async (kind) => {
    const document = await sample(kind);
    for (const name of Object.keys(document)) {
      const { valid, issuer } = await check(without(document, name));
      expect({ name, valid, trusted: issuer.trusted }).toEqual({ name, valid: false, trusted: false });
    }
  });

  test('the first wrong member is named by its path', async () => {
    const document = await sample('standard');
    const verdict = await check({ ...document, subject: { ...(document.subject as JsonObject), ok: 'yes' } });
    expect(verdict.checks[0]).toEqual({
      name: 'format',
      ok: false,
      detail: 'subject.ok must be true or false.',
    });
    expect(verdict).toMatchObject({ family: 'profile', receipt_id: null });
  });
});

describe('the key', () => {
  test('is named twice where issuer_pubkey stands beside key_id, and both must agree', async () => {
    const other = await sampleReceipt('standard', 'did:svc:alice', bob);
    const mixed = await signAs(
      'standard',
      { ...(await sample('standard')), issuer_pubkey: other.issuer_pubkey ?? null },
      alice,
    );
    const verdict = await check(mixed);
    expect(okOf(verdict, 'key')).toBe(false);
    expect(verdict).toMatchObject({ valid: false, integrity: false, issuer: { status: 'contradicted' } });
  });

  test.each([
    'did:key:z6Mk',
    'did:key:zzzz',
    'did:web:example.com:k',
    'did:svc:alice:k9',
    `did:svc:${alice.keyId}`,
    `did:web:${alice.keyId}`,
  ])('%s is not known: invalid', async (key_id) => {
    const document = await signAs('metering', { ...(await sample('metering')), key_id }, alice);
    const verdict = await check(document);
    expect(okOf(verdict, 'key')).toBe(false);
    expect(okOf(verdict, 'signature')).toBe(false);
    expect(verdict).toMatchObject({ valid: false, integrity: false });
  });

  test('of an issuer’s own receipt may be told by its public key alone', async () => {
    const document = await signAs('issue', without(await sample('issue'), 'key_id'), alice);
    expect(await check(document)).toMatchObject({
      valid: true,
      issuer: { key_id: alice.keyId, trusted: true },
    });
  });

  test.each(['AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'])(
    'of small order (%s) is a failed check, not an exception',
    async (issuer_pubkey) => {
      const document = await signAs(
        'issue',
        { ...without(await sample('issue'), 'key_id'), issuer_pubkey },
        alice,
      );
      expect(await check(document)).toMatchObject({ valid: false, integrity: false });
    },
  );
});

describe('clocks', () => {
  test.each([
    [0, true],
    [300, true],
    [301, false],
  ])('a receipt from %i seconds ahead: valid is %s', async (ahead, valid) => {
    const verdict = await check(await sample('standard'), (ISSUED - ahead) * 1000);
    expect(verdict).toMatchObject({ valid, integrity: true, issuer: { trusted: valid } });
    expect(okOf(verdict, 'issued_at')).toBe(valid);
  });

  test('age alone never invalidates', async () => {
    expect(await check(await sample('nano'), Date.UTC(2126, 0, 1))).toMatchObject({ valid: true });
  });

  test('an instant far beyond the calendar is a verdict too', async () => {
    const document = await sample('nano', { ts: Number.MAX_SAFE_INTEGER });
    expect(await check(document)).toMatchObject({ valid: false, integrity: true });
  });

  test('what is known of an anchor is reported', async () => {
    const document = await sample('nano');
    const proof = await anchoredAt(document, NOW - 1000);
    const anchored = await verify(document, {
      now: NOW,
      trust: bothTrusts(trust, trustOf([], anchors)),
      ...proof,
    });
    expect(anchored.checks.slice(-3)).toMatchObject([
      { name: 'anchor', ok: true },
      { name: 'anchor_checkpoint', ok: true },
      {
        name: 'anchor_transaction',
        ok: true,
        detail: `It existed at ${formatTimestamp(NOW - 1000)}: block 25000000 of base contains the root.`,
      },
    ]);
    expect((await check(await sample('nano'))).checks.at(-1)).toMatchObject({ name: 'anchor', ok: null });
    const due = Date.UTC(2026, 5, 1, 13);
    const pending = { ...(await sample('standard')), anchor_ref: 'urn:anchor:pending:2026-06-01T13:00Z:1' };
    expect((await check(pending, due + 59_999)).checks.at(-1)).toEqual({
      name: 'anchor',
      ok: null,
      detail: 'Still pending: its root will be posted at 2026-06-01T13:00Z.',
    });
    expect((await check(pending, due + 60_000)).checks.at(-1)).toEqual({
      name: 'anchor',
      ok: null,
      detail:
        'Its root was due at 2026-06-01T13:00Z. Fetch /v1/anchor/urn:anchor:pending:2026-06-01T13:00Z:1.',
    });
  });
});

describe('the size that is judged', () => {
  test.each(['envelope', 'nano', 'standard'] as const)(
    'of %s is that of its JCS bytes without the unsigned members',
    async (kind) => {
      const document = await sample(kind, { 'x-note': 'é☃𝄞' });
      const size = canonicalBytes(document).length;
      const { checks } = await check({
        ...document,
        tier: 'pro',
        anchor: { path: [] },
        anchor_ref: 'urn:anchor:x',
      });
      expect(checks.find(({ name }) => name === 'size')).toMatchObject({
        ok: true,
        detail: expect.stringContaining(`${size} of `) as unknown,
      });
    },
  );
});

describe('families do not stand in for each other', () => {
  test.each(KINDS)('a %s receipt in the clothes of another family is refused', async (kind) => {
    const document = await sample(kind);
    for (const other of KINDS) {
      const disguised = { ...(await sampleReceipt(other, 'did:svc:alice', bob)), ...document };
      // A pq receipt has every member of standard, which leaves nothing of a disguise.
      if (canonicalize(disguised) === canonicalize(document)) continue;
      const { valid, issuer } = await check(disguised);
      expect({ other, valid, trusted: issuer.trusted }).toEqual({ other, valid: false, trusted: false });
    }
  });
});
