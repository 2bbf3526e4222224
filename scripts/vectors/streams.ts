import {
  fromHex,
  type IssuerKey,
  type IssuerRecord,
  type JsonObject,
  nextStreamHead,
  parseJson,
  type StreamHead,
  sha256Hex,
  signStreamHead,
  streamHeadHash,
  streamStart,
  toBase64url,
  toHex,
  utf8,
} from '../../packages/core/src/index.ts';
import { signers } from './keys.ts';
import { records, VALID_FROM } from './stores.ts';

/** Heads, hashes and receipts of a stream, and the verdict about them. */
export interface StreamCase {
  readonly name: string;
  readonly comment: string;
  readonly heads: readonly JsonObject[];
  /** What the verifier knows. Where it is absent, heads are judged by their signatures alone. */
  readonly issuers?: readonly IssuerRecord[];
  /** Place of the first hash, from 1. */
  readonly first: number;
  readonly hashes: readonly string[];
  readonly given: readonly { readonly sha256: string; readonly issued_at: number | null }[];
  readonly expected:
    | {
        readonly complete: boolean;
        readonly faults: readonly object[];
        readonly given: number;
        readonly uncounted: number;
      }
    | { readonly code: string };
}

const STREAM = 'tenant:t_0123456789abcdef';
const AT = Date.parse('2026-02-01T00:00:00Z');
const DAY = 86_400_000;
const WITHIN = AT / 1000 + 3_600;

const hashOf = (index: number): string => sha256Hex(utf8(`receipt ${index}`));

/** Heads after so many receipts. */
async function headsAt(counts: readonly number[], stream = STREAM): Promise<StreamHead[]> {
  const heads: StreamHead[] = [];
  let head = streamStart(stream);
  let count = 0;
  for (const [position, next] of counts.entries()) {
    for (; count < next; count++) head = nextStreamHead(head, fromHex(hashOf(count + 1), 32));
    const before = heads.at(-1);
    const text = await signStreamHead(
      {
        stream,
        count,
        head: toHex(head),
        since: '2026-01-15T00:00:00Z',
        previous_sha256: before === undefined ? null : streamHeadHash(before),
      },
      { did: records.service.did, at: AT + position * DAY },
      signers.service,
    );
    heads.push(parseJson(utf8(text)) as unknown as StreamHead);
  }
  return heads;
}

export async function streamCases(): Promise<StreamCase[]> {
  const heads = await headsAt([2, 5, 8]);
  const hashes = [3, 4, 5, 6, 7, 8].map(hashOf);
  const given = hashes.map((sha256) => ({ sha256, issued_at: WITHIN }));
  const good = { heads: asJson(heads), first: 3, hashes, given };
  const complete = { complete: true, faults: [], given: 6, uncounted: 0 };
  const faulty = (kind: string, index: number | null, sha256: string | null, counted = 6) => ({
    complete: false,
    faults: [{ kind, index, sha256 }],
    given: counted,
    uncounted: 0,
  });
  const stranger = sha256Hex(utf8('stranger'));
  const later = { sha256: sha256Hex(utf8('later')), issued_at: AT / 1000 + 2 * 86_400 };
  const [, second, third] = heads;
  return [
    { name: 'between two heads', comment: 'And over one more between them.', ...good, expected: complete },
    {
      name: 'from the start',
      comment: 'The chain begins at h_0.',
      ...good,
      first: 1,
      hashes: [hashOf(1), hashOf(2), ...hashes],
      given: [1, 2, 3, 4, 5, 6, 7, 8].map((index) => ({ sha256: hashOf(index), issued_at: WITHIN })),
      expected: { ...complete, given: 8 },
    },
    {
      name: 'issued after the last head',
      comment: 'Not judged.',
      ...good,
      given: [...given, later],
      expected: { ...complete, uncounted: 1 },
    },
    {
      name: 'a metering receipt that no head counts',
      comment: 'It does not say when it was issued, so it may be from before or after them.',
      ...good,
      given: [...given, { sha256: stranger, issued_at: null }],
      expected: { ...complete, uncounted: 1 },
    },
    {
      name: 'left out',
      comment: 'The hash is here, the receipt is not.',
      ...good,
      given: given.toSpliced(3, 1),
      expected: faulty('left_out', 6, hashOf(6), 5),
    },
    {
      name: 'hash left out',
      comment: 'The receipt is here.',
      ...good,
      hashes: hashes.toSpliced(1, 1),
      expected: { ...faulty('left_out', 4, hashOf(4), 5) },
    },
    {
      name: 'added',
      comment: 'A receipt that no head counts.',
      ...good,
      given: [...given, { sha256: stranger, issued_at: WITHIN }],
      expected: faulty('added', null, stranger),
    },
    {
      name: 'hash added',
      comment: 'Between two heads.',
      ...good,
      hashes: hashes.toSpliced(4, 0, stranger),
      given: [...given, { sha256: stranger, issued_at: WITHIN }],
      expected: faulty('added', 7, stranger, 7),
    },
    {
      name: 'moved',
      comment: 'Two hashes changed places.',
      ...good,
      hashes: [3, 4, 5, 7, 6, 8].map(hashOf),
      expected: faulty('moved', 7, hashOf(7)),
    },
    {
      name: 'another head before',
      comment: 'A head was taken out of the list.',
      ...good,
      heads: asJson([heads[0], third]),
      expected: faulty('heads', 8, null),
    },
    {
      name: 'head changed',
      comment: 'After it was signed.',
      ...good,
      heads: [...asJson(heads.slice(0, 2)), { ...asJson([third])[0], count: 9 }],
      expected: { code: 'stream_invalid' },
    },
    {
      name: 'hash in capitals',
      comment: 'Hashes are lower-case hex.',
      ...good,
      hashes: hashes.with(1, hashOf(4).toUpperCase()),
      expected: { code: 'stream_invalid' },
    },
    {
      name: 'receipt with a hash that is none',
      comment: 'Of the receipts that are given, too.',
      ...good,
      given: [...given, { sha256: stranger.slice(1), issued_at: WITHIN }],
      expected: { code: 'stream_invalid' },
    },
    {
      name: 'no head where the hashes begin',
      comment: 'They lead from nowhere.',
      ...good,
      heads: asJson([second, third]),
      expected: { code: 'stream_invalid' },
    },
    {
      name: 'no head',
      comment: 'Then nothing is known.',
      ...good,
      heads: [],
      expected: { code: 'stream_invalid' },
    },
    { name: 'key of heads', comment: 'It is known.', ...good, issuers: [holder({})], expected: complete },
    {
      name: 'key of an unknown issuer',
      comment: 'Nobody vouches for the heads.',
      ...good,
      issuers: [],
      expected: { code: 'stream_invalid' },
    },
    {
      name: 'key of another purpose',
      comment: 'A key for receipts signs no heads.',
      ...good,
      issuers: [holder({ purpose: 'receipt' })],
      expected: { code: 'stream_invalid' },
    },
    {
      name: 'key that was replaced later',
      comment: 'It was in use when it signed.',
      ...good,
      issuers: [holder({ state: 'revoked', revoked: { at: LATER, reason: 'superseded' } })],
      expected: complete,
    },
    {
      name: 'key that was compromised later',
      comment: 'Whoever has it can date heads back, and nothing shows that these are older.',
      ...good,
      issuers: [holder({ state: 'revoked', revoked: { at: LATER, reason: 'compromised' } })],
      expected: { code: 'stream_invalid' },
    },
  ];
}

const LATER = '2026-03-01T00:00:00Z';

/** The service with the key that signed the heads. */
function holder(changes: Partial<IssuerKey>): IssuerRecord {
  const key: IssuerKey = {
    key_id: signers.service.keyId,
    public_key: toBase64url(signers.service.publicKey),
    purpose: 'head',
    state: 'active',
    valid_from: VALID_FROM,
    valid_until: null,
    revoked: null,
    ...changes,
  };
  return { did: records.service.did, status: 'verified', keys: [key] };
}

function asJson(heads: readonly (StreamHead | undefined)[]): JsonObject[] {
  return heads.filter((head) => head !== undefined);
}
