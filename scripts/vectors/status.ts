import { type JsonObject, toBase64url } from '../../packages/core/src/index.ts';
import { type Change, casesOf, changes, ISSUED_AT, NO_KEY, NOT_REACHED, type ReceiptCase } from './cases.ts';
import { withMember, withoutMember } from './change.ts';
import { signers } from './keys.ts';
import { signIssue } from './sign.ts';
import { SERVICE_DID } from './stores.ts';

const { accepts, refuses } = casesOf('status');
const { benchmark, status, stranger } = signers;

const endpoint = {
  name: 'receipt_free',
  method: 'POST',
  path: '/v1/receipt/free',
  availability: 'live',
  probe: 'answer',
  state: 'up',
  code: 'ok',
  latency_ms: 3.25,
  samples: 15,
  checked_at: ISSUED_AT,
  since: '2026-01-14T00:00:00Z',
};

const body: JsonObject = {
  type: 'svc-status-v1',
  version: 1,
  sequence: 7,
  previous_sha256: 'b'.repeat(64),
  service: 'https://receipts.example',
  endpoints: [endpoint, { ...endpoint, name: 'mcp', path: '/mcp', state: 'down', code: 'timeout' }],
  providers: [{ id: 'openai', state: 'degraded', code: 'model_gone', since: ISSUED_AT }],
  models: [
    { id: 'openai/gpt-4o-mini', state: 'down', code: 'model_gone', since: ISSUED_AT },
    { id: 'openai/gpt-4o', state: 'up', code: 'ok', since: '2026-01-14T00:00:00Z' },
    { id: 'openai/gpt-5', state: 'unknown', code: 'not_called', since: '2026-01-14T00:00:00Z' },
  ],
  log: {
    checkpoint: { origin: 'api.example', size: 12, root: 'c'.repeat(64) },
    accepted: 13,
    anchored: 12,
    oldest_unanchored_seconds: 40,
  },
  issued_at: ISSUED_AT,
  valid_until: '2026-01-15T11:03:00Z',
  issuer_did: SERVICE_DID,
  issuer_pubkey: toBase64url(status.publicKey),
  key_id: status.keyId,
};

/** Cases of a service's status document, which is signed with a key for nothing else. */
export async function statusCases(): Promise<ReceiptCase[]> {
  const good = await signIssue(body, status);
  const byBenchmarkKey = {
    ...body,
    issuer_pubkey: toBase64url(benchmark.publicKey),
    key_id: benchmark.keyId,
  };
  const byStranger = { ...body, issuer_pubkey: toBase64url(stranger.publicKey), key_id: stranger.keyId };
  return [
    accepts('a status', 'By the status key of a verified issuer.', good, { nulls: ['anchor'] }),
    accepts('issuer not known', 'Integrity without trust.', good, {
      trust: 'empty',
      nulls: ['issuer', 'key_window', 'anchor'],
    }),
    accepts(
      'the first',
      'It names none before it.',
      await signIssue({ ...body, sequence: 1, previous_sha256: null }, status),
    ),
    accepts(
      'long over',
      'The verdict is on who signed what. Whether it still holds is for its reader (spec/status.md).',
      await signIssue({ ...body, valid_until: '2026-01-15T11:00:00Z' }, status),
    ),
    accepts(
      'unknown signed member',
      'The format only adds members.',
      await signIssue({ ...body, memo: 'm' }, status),
    ),
    ...changes('status', good, changedMembers, withMember),
    refuses(
      'signed with a benchmark key',
      'A key never signs two kinds of document.',
      await signIssue(byBenchmarkKey, benchmark),
      ['issuer'],
    ),
    refuses(
      're-signed by a stranger',
      'The named issuer does not hold the key.',
      await signIssue(byStranger, stranger),
      ['issuer'],
    ),
    ...REQUIRED.map((name) =>
      refuses(`without ${name}`, 'A member is missing.', withoutMember(good, name), ['format'], NOT_REACHED),
    ),
    ...malformed.map(([name, value]) =>
      refuses(
        `${name} is ${JSON.stringify(value)}`,
        'A member of another form.',
        { ...good, [name]: value },
        ['format'],
        NOT_REACHED,
      ),
    ),
  ];
}

const REQUIRED = [
  'sequence',
  'previous_sha256',
  'issued_at',
  'valid_until',
  'issuer_did',
  'issuer_pubkey',
  'key_id',
  'sig_b64u',
];

const changedMembers: readonly Change[] = [
  ['sequence', 8],
  ['previous_sha256', 'd'.repeat(64)],
  ['endpoints', [endpoint]],
  ['providers', []],
  ['log.anchored', 13],
  ['valid_until', '2027-01-15T11:03:00Z'],
  ['key_id', stranger.keyId, NO_KEY],
  ['unknown_member', 1],
];

const malformed: readonly (readonly [string, number | string | null])[] = [
  ['sequence', 0],
  ['sequence', '7'],
  ['previous_sha256', 'B'.repeat(64)],
  ['valid_until', '2026-01-15'],
  ['valid_until', null],
];
