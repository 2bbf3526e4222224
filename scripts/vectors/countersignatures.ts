import { countersign, type JsonObject, toBase64url } from '../../packages/core/src/index.ts';
import { casesOf, type ReceiptCase } from './cases.ts';
import { textAt, withMember } from './change.ts';
import { facts, minted } from './envelope-base.ts';
import { withSpareBits } from './forged.ts';
import { signers } from './keys.ts';
import { asDocument, signature } from './sign.ts';
import { OPERATOR_DID, SERVICE_DID } from './stores.ts';

const { accepts, refuses } = casesOf('envelope');

/** Cases with signatures of the requester and the operator beside the service's own. */
export async function countersignatureCases(): Promise<ReceiptCase[]> {
  const { agent, operator, service, stranger } = signers;
  const good = await minted({ operator: { ...facts.operator, entity: OPERATOR_DID } });
  const byService = await minted({ operator: { ...facts.operator, entity: SERVICE_DID } });
  const byAgent = asDocument(await countersign(good, 'requester', agent));
  const byBoth = asDocument(await countersign(byAgent, 'operator', operator));
  const signedBody = ({ signatures: _signatures, ...body }: JsonObject): JsonObject => body;
  const body = signedBody(good);
  const named = async (origin: string | null): Promise<JsonObject> => {
    const receipt = await minted({ request: { ...facts.request, origin } });
    return withMember(receipt, 'signatures.requester', await signature(signedBody(receipt), agent));
  };
  const namedOperator = async (entity: string): Promise<JsonObject> => {
    const receipt = await minted({ operator: { ...facts.operator, entity } });
    return withMember(receipt, 'signatures.operator', await signature(signedBody(receipt), operator));
  };
  const byUnknown = await minted({ operator: { ...facts.operator, entity: 'did:svc:nobody' } });
  const replayed = await minted({ request: { ...facts.request, purpose: 'something else' } });
  const bySvc = await signature(body, service);
  return [
    accepts('requester signed', 'The did:key in request.origin.', byAgent, {
      nulls: ['signature_operator', 'anchor'],
    }),
    accepts('both signed', 'The operator’s key is in its issuer record.', byBoth, { nulls: ['anchor'] }),
    accepts('operator’s keys not known', 'Nothing to check it with is null, not false.', byBoth, {
      trust: 'empty',
      nulls: ['signature_operator', 'issuer', 'key_window', 'anchor'],
    }),
    accepts(
      'operator’s signature by a revoked key',
      'It shows nothing, whenever it was made: null, not true.',
      withMember(byService, 'signatures.operator', await signature(signedBody(byService), signers.revoked)),
      { nulls: ['signature_requester', 'signature_operator', 'anchor'] },
    ),
    refuses(
      'requester’s signature by a stranger',
      'It must be of the key in request.origin.',
      withMember(good, 'signatures.requester', await signature(body, stranger)),
      ['signature_requester'],
    ),
    refuses(
      'operator’s signature by the service',
      'It must be of a receipt key of operator.entity.',
      withMember(good, 'signatures.operator', bySvc),
      ['signature_operator'],
    ),
    refuses(
      'operator’s signature by its status key',
      'A key of the operator, but for another purpose.',
      withMember(byService, 'signatures.operator', await signature(signedBody(byService), signers.status)),
      ['signature_operator'],
    ),
    ...unmade.map(([name, bytes]) =>
      refuses(
        `operator’s signature that no key can have made: ${name}`,
        'The keys of the operator are not known, but no signature of any key looks so: false, not null.',
        withMember(byUnknown, 'signatures.operator', toBase64url(bytes)),
        ['signature_operator'],
      ),
    ),
    accepts(
      'a did:key inside another DID',
      'It certifies nothing: only a did:key itself is its own key.',
      await namedOperator(`did:svc:${operator.keyId}`),
      { nulls: ['signature_requester', 'signature_operator', 'anchor'] },
    ),
    refuses(
      'signatures exchanged',
      'Good signatures in each other’s place.',
      withMember(byBoth, 'signatures', {
        ...(byBoth.signatures as JsonObject),
        requester: (byBoth.signatures as JsonObject).operator ?? null,
        operator: (byBoth.signatures as JsonObject).requester ?? null,
      }),
      ['signature_requester', 'signature_operator'],
    ),
    refuses(
      'requester’s signature of another receipt',
      'Over other contents.',
      withMember(good, 'signatures.requester', await signature(signedBody(replayed), agent)),
      ['signature_requester'],
    ),
    refuses('nobody named', 'A signature where request.origin is null.', await named(null), [
      'signature_requester',
    ]),
    accepts(
      'origin of another key type',
      'A did:key that is no Ed25519 key can’t be checked.',
      await named(P256_KEY),
      {
        nulls: ['signature_requester', 'signature_operator', 'anchor'],
      },
    ),
    accepts('origin of an unknown method', 'Nobody resolves it offline.', await named('did:example:agent'), {
      nulls: ['signature_requester', 'signature_operator', 'anchor'],
    }),
    refuses(
      'spare bits in a counter-signature',
      'The form is wrong.',
      withMember(byAgent, 'signatures.requester', withSpareBits(textAt(byAgent, 'signatures.requester'))),
      ['format'],
      { trusted: false, nulls: ['signature'] },
    ),
  ];
}

/** Texts of 64 bytes that the Ed25519 profile refuses whatever the key. */
const unmade: [string, Uint8Array][] = [
  ['R of small order', new Uint8Array(64)],
  ['R that is not canonical', new Uint8Array(64).fill(0xff, 0, 32)],
  ['S not below the group order', new Uint8Array(64).fill(9, 0, 32).fill(0xff, 32)],
];

/** An example from the did:key specification: a key on P-256. */
const P256_KEY = 'did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169';
