import {
  canonicalBytes,
  type JsonObject,
  type Signer,
  sha256Hex,
  toBase64url,
  toHex,
} from '../../packages/core/src/index.ts';
import { type ForeignCase, foreignCases, lines, text } from './foreign.ts';
import { signers } from './keys.ts';

const AT = '2026-01-15T11:00:00Z';
const acta = foreignCases('acta', signers.agent.keyId);

const hexKey = (signer: Signer): string => toHex(signer.publicKey);
const sign = async (value: JsonObject, signer: Signer): Promise<string> =>
  toHex(await signer.sign(canonicalBytes(value)));
const hashOf = (value: JsonObject): string => `sha256:${sha256Hex(canonicalBytes(value))}`;

async function v1(
  sequence: number,
  link: string | null,
  signer: Signer = signers.agent,
): Promise<JsonObject> {
  const receipt = {
    receipt_id: `rcpt-${sequence}a`,
    receipt_version: '1.0',
    tool_name: 'Read',
    decision: 'allow',
    policy_id: 'example',
    timestamp: AT,
    sequence,
    parent_receipt_hash: link,
    public_key: hexKey(signer),
  };
  return { ...receipt, signature: await sign(receipt, signer) };
}

async function v2(sequence: number, link: string | null, changes: JsonObject = {}): Promise<JsonObject> {
  const payload: JsonObject = {
    type: 'scopeblind.receipt.v1',
    decision: 'allow',
    action: { kind: 'tool', target: 'Read' },
    policy_id: 'example',
    sequence,
    timestamp: AT,
    ...(link === null ? {} : { prev_hash: link }),
    ...changes,
  };
  return { payload, signature: await sign(payload, signers.agent), pubkey: hexKey(signers.agent) };
}

async function draft(changes: JsonObject = {}): Promise<JsonObject> {
  const payload = {
    type: 'protectmcp:decision',
    tool_name: 'Read',
    decision: 'allow',
    issued_at: AT,
    issuer_id: 'k',
    ...changes,
  };
  return { payload, signature: { alg: 'EdDSA', kid: 'k', sig: await sign(payload, signers.agent) } };
}

async function chainOf(
  make: (sequence: number, link: string | null) => Promise<JsonObject>,
  linkTo: (receipt: JsonObject) => string,
): Promise<JsonObject[]> {
  const receipts: JsonObject[] = [];
  for (const sequence of [1, 2, 3, 4]) {
    const before = receipts.at(-1);
    receipts.push(await make(sequence, before === undefined ? null : linkTo(before)));
  }
  return receipts;
}

const without = ({ signature: _signature, ...rest }: JsonObject): JsonObject => rest;
const bare = ({ signature: _signature, public_key: _key, ...rest }: JsonObject): JsonObject => rest;

export async function foreignActaCases(): Promise<ForeignCase[]> {
  const [one, two] = [await v1(1, null), await v2(1, null)];
  const artifactBody = {
    v: 2,
    type: 'decision_receipt',
    algorithm: 'ed25519',
    kid: 'k',
    issued_at: AT,
    payload: { decision: 'allow' },
  };
  const artifact = { ...artifactBody, signature: await sign(artifactBody, signers.agent) };
  const key = signers.agent.keyId;
  const upper = typeof one.signature === 'string' ? one.signature.toUpperCase() : '';
  return [
    acta('v1 flat', 'The signature covers all members but itself.', text(one), []),
    acta('v1 flat, changed', 'Another decision.', text({ ...one, decision: 'deny' }), ['signature']),
    acta('v1 flat, member added', 'A member that nobody signed.', text({ ...one, note: 'x' }), ['signature']),
    acta(
      'v1 flat, another key in it',
      'The key is signed too.',
      text({ ...one, public_key: hexKey(signers.stranger) }),
      ['signature'],
    ),
    acta('v1 flat, upper-case signature', 'Hex is lower-case.', text({ ...one, signature: upper }), [
      'format',
    ]),
    acta('v1 flat, no policy', 'The schema requires it.', text({ ...one, policy_id: 1 }), ['format']),
    acta('v2 envelope', 'The signature covers the payload.', text(two), []),
    acta(
      'v2 envelope, changed',
      'Another target.',
      text({ ...two, payload: { ...(two.payload as JsonObject), decision: 'deny' } }),
      ['signature'],
    ),
    acta(
      'v2 envelope, member added beside the payload',
      'It is not signed, so that nothing in the verdict may come from it.',
      text({ ...two, prev_hash: 'x', sequence: 9 }),
      [],
    ),
    acta(
      'v2 envelope of a later time',
      'Its time is in the future.',
      text(await v2(1, null, { timestamp: '2026-02-01T00:00:00Z' })),
      ['issued_at'],
    ),
    acta(
      'v2 artifact, key given',
      'The APS gateway does not put the key into the receipt.',
      text(artifact),
      [],
      { keys: [hexKey(signers.agent)] },
    ),
    acta('v2 artifact, no key', 'Nothing can be checked.', text(artifact), ['key', 'signature']),
    acta('v2 artifact, other key', 'The key given did not sign it.', text(artifact), ['signature'], {
      keys: [hexKey(signers.stranger)],
    }),
    acta('draft envelope, key given', 'The form of the draft itself.', text(await draft()), [], {
      keys: [key],
    }),
    acta(
      'draft envelope around another signed text',
      'What a key signed for something else is no receipt.',
      text(await draft({ issuer_id: null })),
      ['format'],
      { keys: [key] },
    ),
    acta(
      'draft envelope, another algorithm',
      'Only EdDSA is defined.',
      text({ ...(await draft()), signature: { alg: 'none', kid: 'k', sig: '00'.repeat(64) } }),
      ['format'],
      { keys: [key] },
    ),
    acta('key given as base64url', 'The key that the receipt carries is pinned.', text(one), [], {
      keys: [toBase64url(signers.agent.publicKey)],
    }),
    acta('other key given', 'Intact, but signed by none of the keys given.', text(one), ['pinned_key'], {
      keys: [signers.stranger.keyId],
    }),
    acta('key of a verified issuer', 'The trust lists it.', text(await v1(1, null, signers.service)), [], {
      trust: 'known',
      signers: [signers.service.keyId],
    }),
    acta('key of a registered issuer', 'Listed, not verified.', text(await v1(1, null, signers.acme)), [], {
      trust: 'known',
      trusted: false,
      signers: [signers.acme.keyId],
    }),
    acta(
      'retired key',
      'Issued after the key ended.',
      text(await v1(1, null, signers.retired)),
      ['key_window'],
      { trust: 'known', signers: [signers.retired.keyId] },
    ),
    ...(await chainCases()),
  ];
}

async function chainCases(): Promise<ForeignCase[]> {
  const whole = await chainOf(v2, hashOf);
  const [first = {}, second = {}, third = {}, fourth = {}] = whole;
  const count = 4;
  const broken = ['chain', 'sequence'];
  return [
    acta('chain by the draft', 'Links are hashes of whole receipts.', lines(whole), [], { count }),
    acta('chain as a list', 'A JSON array is read as JSON Lines are.', text(whole), [], { count }),
    acta(
      'chain of v1, by the signed contents',
      'As nobulex links.',
      lines(await chainOf(v1, (one) => hashOf(without(one)))),
      [],
      { count },
    ),
    acta(
      'chain of v1, without signature and key',
      'As the older suite links.',
      lines(await chainOf(v1, (one) => hashOf(bare(one)))),
      [],
      { count },
    ),
    acta(
      'chain of v2, by the payload',
      'As sb-runtime links.',
      lines(
        await chainOf(
          (n, link) => v2(n, link ?? 'genesis'),
          (one) => hashOf(one.payload as JsonObject),
        ),
      ),
      [],
      { count },
    ),
    acta(
      'chain in bare hex',
      'Without sha256: in front.',
      lines(await chainOf(v2, (one) => hashOf(one).slice(7))),
      [],
      { count },
    ),
    acta('chain, its start cut off', 'What is left is a chain still.', lines(whole.slice(1)), [], {
      count: 3,
    }),
    acta('chain, its end cut off', 'Nobody can see it.', lines(whole.slice(0, 3)), [], { count: 3 }),
    acta('chain, one left out', 'The third is missing.', lines([first, second, fourth]), broken, {
      count: 3,
    }),
    acta(
      'chain, two in another order',
      'Third before second.',
      lines([first, third, second, fourth]),
      broken,
      { count },
    ),
    acta('chain, one doubled', 'The second twice.', lines([first, second, second, third]), broken, { count }),
    acta(
      'chain, one changed',
      'Its signature and the link to it break.',
      lines([first, { ...second, signature: first.signature ?? '' }, third]),
      ['signature', 'chain'],
      { count: 3, signers: [signers.agent.keyId] },
    ),
    acta(
      'chain of two conventions',
      'One rule must explain all links.',
      lines([first, second, await v2(3, hashOf(second.payload as JsonObject))]),
      ['chain'],
      { count: 3 },
    ),
    acta(
      'chain with a line that is no JSON',
      'Torn in the middle.',
      `${lines([first])}{"payload":\n${lines([third])}`,
      ['format'],
    ),
    acta(
      'chain with lines of white space',
      'They say nothing.',
      lines(whole).replaceAll('\n', '\r\n \t\r\n'),
      [],
      { count },
    ),
    ...['\u001c', '\u0085', '\u00a0', '\ufeff'].map((space) =>
      acta(
        `chain with a line of U+${space.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`,
        'It is no white space of JSON, whatever a language calls so.',
        `${lines([first])}${space}\n${lines([second])}`,
        ['format'],
      ),
    ),
    acta('chain behind a byte order mark', 'It says nothing.', `\ufeff${lines(whole)}`, [], { count }),
    acta(
      'chain with a receipt of another kind',
      'One file holds one family.',
      lines([first, { payloadType: 'x', signatures: [] }]),
      ['format'],
    ),
  ];
}
