import { type JsonObject, toBase64url } from '../../packages/core/src/index.ts';
import { type Change, casesOf, changes, ISSUED_AT, NO_KEY, NOT_REACHED, type ReceiptCase } from './cases.ts';
import { withMember, withoutMember } from './change.ts';
import { signers } from './keys.ts';
import { signIssue } from './sign.ts';
import { SERVICE_DID } from './stores.ts';

const { accepts, refuses } = casesOf('benchmark');
const { benchmark, service, stranger } = signers;

const row = {
  tier: 'extractive',
  budget: 0.25,
  documents: 2,
  cases: 8,
  kept: 0.875,
  kept_ci95: [0.5, 1],
  facts_kept: 0.9,
  over_budget: 0,
  tokens_before: 4000,
  tokens_after: 990,
  saved_median: 0.7525,
  saved_worst: 0.75,
  saved_best: 0.76,
};

const body: JsonObject = {
  type: 'svc-benchmark-v1',
  node: 'semantic',
  version: 1,
  corpus: { sha256: 'a'.repeat(64), documents: 2, cases: 8, tokens: 4000 },
  command: 'npm run benchmark',
  generated_with: { package: '@tallystick/compress', version: '0.1.0', tokenizer: 'o200k_base' },
  about: 'Facts kept.',
  tiers: [row],
  by: [{ kind: 'fact', ...row }],
  by_wording: [{ kind: 'plain', ...row }],
  paired: [],
  paired_by: [],
  paired_by_wording: [],
  worst_cases: [],
  issued_at: ISSUED_AT,
  issuer_did: SERVICE_DID,
  issuer_pubkey: toBase64url(benchmark.publicKey),
  key_id: benchmark.keyId,
};

/** Cases of a service's benchmark, which is signed with a key for nothing else. */
export async function benchmarkCases(): Promise<ReceiptCase[]> {
  const good = await signIssue(body, benchmark);
  const nulls = ['anchor'];
  const byReceiptKey = { ...body, issuer_pubkey: toBase64url(service.publicKey), key_id: service.keyId };
  const byStranger = { ...body, issuer_pubkey: toBase64url(stranger.publicKey), key_id: stranger.keyId };
  return [
    accepts('one node', 'By the benchmark key of a verified issuer.', good, { nulls }),
    accepts('issuer not known', 'Integrity without trust.', good, {
      trust: 'empty',
      nulls: ['issuer', 'key_window', ...nulls],
    }),
    accepts(
      'unknown signed member',
      'The format only adds members.',
      await signIssue({ ...body, memo: 'm' }, benchmark),
    ),
    ...changes('benchmark', good, changedMembers, withMember),
    refuses(
      'signed with a receipt key',
      'A key never signs two kinds of document.',
      await signIssue(byReceiptKey, service),
      ['issuer'],
    ),
    refuses(
      're-signed by a stranger',
      'The named issuer does not hold the key.',
      await signIssue(byStranger, stranger),
      ['issuer'],
    ),
    ...['node', 'issued_at', 'issuer_did', 'issuer_pubkey', 'key_id', 'sig_b64u'].map((name) =>
      refuses(`without ${name}`, 'A member is missing.', withoutMember(good, name), ['format'], NOT_REACHED),
    ),
    refuses(
      'a node that there is not',
      'It names none of the four.',
      { ...good, node: 'all' },
      ['format'],
      NOT_REACHED,
    ),
  ];
}

const changedMembers: readonly Change[] = [
  ['node', 'temporal'],
  ['corpus.cases', 9],
  ['tiers', [{ ...row, kept: 1 }]],
  ['issued_at', '2026-01-15T11:00:01Z'],
  ['key_id', stranger.keyId, NO_KEY],
  ['unknown_member', 1],
];
