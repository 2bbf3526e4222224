import { beforeAll, describe, expect, test } from 'vitest';
import { nodeEngine } from '../../kit/src/crypto/node-ed25519.ts';
import {
  canonicalize,
  copyJson,
  countersign,
  type IssuerRecord,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  type Signer,
  TallyError,
  toBase64url,
  trustOf,
  utf8,
  type Verification,
  verify,
} from '../src/index.ts';
import { bytesMutant, neutralMutant, type Sample, structureMutant } from './mutants.ts';
import { newSeed, randomOf } from './random.ts';
import {
  issuerMembers,
  KINDS,
  keyOf,
  NOW,
  recordOf,
  sampleReceipt,
  signAs,
  signerOf,
  UNSIGNED,
  without,
} from './sample-receipts.ts';

/** Number of random mutations that are tried. TALLY_TEST_MUTATIONS=100000 makes the long run. */
const MUTATIONS = Number(process.env.TALLY_TEST_MUTATIONS ?? 20_000);

let samples: Sample[];
let records: IssuerRecord[];
let parties: { alice: Signer; bob: Signer; stranger: Signer };

const extras: JsonObject = {
  'x-note': 'naïve ☃ 𝄞 "quoted" \\ \n',
  'x-list': [1, 1.5, -0.25, 1e21, 5e-324, 'two', { deep: [null, true] }, []],
  'x-empty': {},
};

beforeAll(async () => {
  const [alice, alice2, bob, carol, stranger] = await Promise.all([1, 2, 3, 4, 9].map(signerOf));
  parties = { alice: alice!, bob: bob!, stranger: stranger! };
  records = [
    recordOf('did:svc:alice', keyOf(alice!), keyOf(alice2!)),
    recordOf('did:svc:bob', keyOf(bob!)),
    recordOf('did:svc:carol', keyOf(carol!)),
    { ...recordOf('did:svc:stranger-holder', keyOf(await signerOf(10))), status: 'registered' },
  ];
  samples = [];
  const add = (kind: Sample['kind'], document: JsonValue): void => {
    samples.push({ kind, document: document as JsonObject });
  };
  for (const kind of KINDS) {
    add(kind, await sampleReceipt(kind, 'did:svc:alice', alice!));
    add(kind, await sampleReceipt(kind, 'did:svc:bob', bob!));
    add(kind, await sampleReceipt(kind, 'did:svc:alice', alice2!, kind === 'metering' ? {} : extras));
    if (kind === 'metering') continue;
    const anchored = {
      anchor_ref: 'urn:anchor:pending:2026-06-01T12:00Z:1a',
      tier: 'pro',
      anchor: { path: [1] },
    };
    add(kind, { ...(await sampleReceipt(kind, 'did:svc:alice', alice!, extras)), ...anchored });
  }
  // Of different bodies, so that no piece of one is genuine in the other.
  const counterSigned = async (purpose: string): Promise<JsonValue> => {
    const envelope = await sampleReceipt('envelope', 'did:svc:alice', alice!, {
      request: { hash: null, origin: bob!.keyId, purpose, policy_hash: null },
      operator: { entity: 'did:svc:carol', region: null, training_region: null },
    });
    return parseJson(utf8(await countersign(envelope, 'requester', bob!)));
  };
  add('envelope', await counterSigned('one counter-signature'));
  add('envelope', parseJson(utf8(await countersign(await counterSigned('two'), 'operator', carol!))));
});

/** `engine` is the fast one: the engines' agreement is tested elsewhere. */
const judge = (document: unknown): Promise<Verification> =>
  verify(document, { now: NOW, trust: trustOf(records), engine: nodeEngine });

async function accepts(document: unknown): Promise<boolean> {
  const { valid, issuer } = await judge(document);
  return valid && issuer.trusted;
}

/**
 * The receipt as it must stay, by the rules of the formats and not by the verifier's code: no member but the
 * unsigned ones may change, except that a counter-signature may be withdrawn. Of metering nothing may.
 */
function essence({ kind, document }: Sample, withdrawnIn: JsonValue): string {
  if (kind === 'metering') return canonicalize(document);
  const rest = without(document, ...UNSIGNED);
  if (kind !== 'envelope' || !isObject(document.signatures)) return canonicalize(rest);
  const signatures = { ...document.signatures };
  const found = isObject(withdrawnIn) ? withdrawnIn.signatures : undefined;
  for (const role of ['requester', 'operator']) {
    if (isObject(found) && found[role] === null) signatures[role] = null;
  }
  return canonicalize({ ...rest, signatures });
}

function isUnchanged(sample: Sample, mutant: JsonValue): boolean {
  if (!isObject(mutant)) return false;
  return essence({ kind: sample.kind, document: mutant }, mutant) === essence(sample, mutant);
}

interface Outcomes {
  readonly counts: Record<string, number>;
  readonly faults: string[];
}

/** Tries one mutant text, and notes what happened: only a `json_…` refusal by the parser is allowed to throw. */
async function tryMutant(
  sample: Sample,
  bytes: Uint8Array,
  label: string,
  outcomes: Outcomes,
): Promise<void> {
  const note = (outcome: string): void => {
    outcomes.counts[outcome] = (outcomes.counts[outcome] ?? 0) + 1;
  };
  const fault = (what: string): void => {
    if (outcomes.faults.length < 5)
      outcomes.faults.push(`${what} ${label} ${sample.kind}: ${new TextDecoder().decode(bytes)}`);
    note(what);
  };
  let mutant: JsonValue;
  try {
    mutant = parseJson(bytes);
  } catch (error) {
    if (error instanceof TallyError && error.code.startsWith('json_')) return note('not JSON');
    return fault(`CRASH in the parser (${String(error)})`);
  }
  const unchanged = isUnchanged(sample, mutant);
  try {
    const { valid, issuer, checks } = await judge(mutant);
    const accepted = valid && issuer.trusted;
    if (!accepted && unchanged) return fault('REFUSED THOUGH UNCHANGED');
    if (accepted && !unchanged) {
      // Two samples differ in issuer, key and signature alone: a mutant that takes all of them is the other one.
      if (samples.some((other) => isUnchanged(other, mutant))) return note('changed into another sample');
      return fault('ACCEPTED THOUGH CHANGED');
    }
    const refusal = checks.find(({ ok }) => ok === false)?.name ?? 'the trust';
    note(accepted ? 'accepted, unchanged' : `changed, refused by ${refusal}`);
  } catch (error) {
    fault(`CRASH (${String(error)})`);
  }
}

describe('a receipt is accepted if and only if what its issuer signed, the key and the signature are unchanged', () => {
  test('every sample is accepted as it is', async () => {
    for (const { kind, document } of samples) expect([kind, await accepts(document)]).toEqual([kind, true]);
  });

  test(`${MUTATIONS} random mutations`, async () => {
    const seed = newSeed();
    const random = randomOf(seed);
    const outcomes: Outcomes = { counts: {}, faults: [] };
    const kinds = [
      bytesMutant,
      bytesMutant,
      structureMutant,
      structureMutant,
      structureMutant,
      neutralMutant,
    ];
    for (let index = 0; index < MUTATIONS; index++) {
      const sample = random.pick(samples);
      const mutate = random.pick(kinds);
      await tryMutant(sample, mutate(sample, samples, random), `#${index} ${mutate.name}`, outcomes);
    }
    console.log(`mutations: seed ${seed}`, outcomes.counts);
    // The seed printed above, given as MUTATION_SEED, finds them again.
    expect(outcomes.faults).toEqual([]);
    // Each outcome must be frequent, or the property would say little.
    for (const outcome of [
      'not JSON',
      'accepted, unchanged',
      'changed, refused by format',
      'changed, refused by signature',
    ]) {
      expect(outcomes.counts[outcome]).toBeGreaterThan(MUTATIONS / 20);
    }
  });

  test('white space, member order, lexemes and unsigned members alone never matter', async () => {
    const seed = newSeed();
    const random = randomOf(seed);
    for (let index = 0; index < 2000; index++) {
      const sample = random.pick(samples);
      const mutant = parseJson(neutralMutant(sample, samples, random));
      const found = { index, seed, unchanged: isUnchanged(sample, mutant), accepted: await accepts(mutant) };
      expect(found).toEqual({ index, seed, unchanged: true, accepted: true });
    }
  });
});

describe('a stranger signs the same contents', () => {
  const absent = Symbol('absent');
  type Choice = JsonValue | typeof absent;

  /** Every combination of keeping, replacing and leaving out what a receipt says of its issuer. */
  function* disguises(document: JsonObject, replaced: JsonObject): Generator<JsonObject> {
    let variants: JsonObject[] = [document];
    for (const name of ['issuer_did', 'issuer_pubkey', 'key_id', 'k', 'issuer_verified']) {
      if (document[name] === undefined) continue;
      const choices: Choice[] = [document[name], replaced[name] ?? false, absent];
      if (name === 'issuer_did') choices.push('did:svc:bob', 'did:svc:nobody', parties.stranger.keyId);
      variants = variants.flatMap((variant) =>
        choices.map((choice) =>
          choice === absent ? without(variant, name) : { ...variant, [name]: choice },
        ),
      );
    }
    yield* variants;
  }

  test.each(KINDS)('and is never trusted: %s', async (kind) => {
    const { alice, stranger } = parties;
    const original = await sampleReceipt(kind, 'did:svc:alice', alice);
    const replaced = { ...issuerMembers(kind, 'did:svc:stranger', stranger), issuer_verified: false };
    let tried = 0;
    let integral = 0;
    for (const disguise of disguises(original, replaced)) {
      const forged = await signAs(kind, disguise, stranger);
      for (const known of [
        records,
        [...records, { ...recordOf('did:svc:stranger', keyOf(stranger)), status: 'registered' as const }],
      ]) {
        const verdict = await verify(copyJson(forged), {
          now: NOW,
          trust: trustOf(known),
          engine: nodeEngine,
        });
        const status = verdict.valid ? /^(unknown|registered)$/ : /./;
        expect({ forged, ...verdict.issuer }).toMatchObject({
          forged,
          trusted: false,
          status: expect.stringMatching(status) as unknown,
        });
        if (verdict.integrity) integral += 1;
        tried += 1;
      }
    }
    expect(tried).toBeGreaterThan(4);
    // At least the plain replacement is a stranger's own good receipt, so that trust is what refuses it.
    expect(integral).toBeGreaterThan(0);
  });

  const naming = KINDS.filter((kind) => kind !== 'nano' && kind !== 'metering');
  test.each(naming)('in the name of a verified issuer is invalid, not merely untrusted: %s', async (kind) => {
    const { stranger } = parties;
    const forged = await sampleReceipt(kind, 'did:svc:alice', stranger);
    const verdict = await verify(forged, { now: NOW, trust: trustOf(records), engine: nodeEngine });
    expect(verdict).toMatchObject({
      integrity: true,
      valid: false,
      issuer: { trusted: false, status: 'contradicted' },
    });
  });

  test('the stranger of these tests signs well: trust alone tells the two apart', async () => {
    const { stranger } = parties;
    const own = await sampleReceipt('standard', 'did:svc:stranger', stranger);
    expect(own.issuer_pubkey).toBe(toBase64url(stranger.publicKey));
    const known = trustOf([recordOf('did:svc:stranger', keyOf(stranger))]);
    const verdict = await verify(own, { now: NOW, trust: known, engine: nodeEngine });
    expect(verdict).toMatchObject({ valid: true, issuer: { trusted: true } });
  });
});
