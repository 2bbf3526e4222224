import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createSigner } from '../src/ed25519/signer.ts';
import { fromBase64url } from '../src/encoding/base64url.ts';
import { utf8 } from '../src/encoding/bytes.ts';
import { type JsonObject, parseWitnessPolicy, sha256, trustOf, verifierKey, verify } from '../src/index.ts';
import type { AnchorAuthority } from '../src/trust/authority.ts';
import type { IssuerRecord } from '../src/trust/issuer.ts';

interface AnchorCase {
  readonly document: JsonObject;
  readonly anchor: JsonObject;
  readonly authority: AnchorAuthority;
  readonly trust: string;
  readonly now: string;
}

const read = (file: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../spec/vectors/${file}`, import.meta.url), 'utf8'));
const [first] = read('anchors.json') as AnchorCase[];
const stores = read('issuer-stores.json') as Record<string, IssuerRecord[]>;

/** The verdicts on a good anchor by a policy that lists this key for the log's name, and requires no witness. */
async function judged(publicKey: Uint8Array | null) {
  const { document, anchor, authority, trust, now } = first as AnchorCase;
  const { origin = '', public_key = '' } = authority.log ?? {};
  const key = verifierKey(origin, publicKey ?? fromBase64url(public_key));
  return verify(document, {
    now: Date.parse(now),
    anchor,
    trust: trustOf(stores[trust] ?? [], [authority]),
    witnessPolicy: parseWitnessPolicy(utf8(`log ${key}\nquorum none\n`)),
  });
}

test('a policy takes the signature of the log from the check of the anchor, if it lists the same key', async () => {
  const { checks, witnessed } = await judged(null);
  expect(checks).toContainEqual(expect.objectContaining({ name: 'anchor_checkpoint', ok: true }));
  expect(witnessed?.satisfied).toBe(true);
});

test('a policy that lists another key for the log is not met by the key of the trust', async () => {
  const { publicKey } = await createSigner(sha256(utf8('another log')));
  const { checks, witnessed } = await judged(publicKey);
  expect(checks).toContainEqual(expect.objectContaining({ name: 'anchor_checkpoint', ok: true }));
  expect(witnessed?.satisfied).toBe(false);
});
