import { z } from '@hono/zod-openapi';
import { BENCHMARK_NODES, type BenchmarkNode } from '@tallystick/core';
import { createBenchmark } from '@tallystick/inference';
import { text } from '../http/answer.ts';
import { matches } from '../http/conditional.ts';
import { header } from '../http/context.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { COMPUTE } from './compute-shapes.ts';
import { count, didText, hexDigest, publicKeyText, signatureText, timestamp } from './shapes.ts';

type Needs = Pick<Services, 'clock' | 'issuer'>;

/** A share of 1. */
const share = z.number();
const interval = z
  .array(share)
  .length(2)
  .openapi({ description: 'The 95% confidence interval: its lower and its upper end.' });
const savedShares = {
  saved_median: share.openapi({ description: 'Share of the tokens that is saved, the median.' }),
  saved_worst: share.openapi({ description: 'The same where least is saved.' }),
  saved_best: share.openapi({ description: 'The same where most is saved.' }),
};
const kind = z.string().openapi({ description: 'What it is a row of.' });

const rowSchema = z
  .looseObject({
    tier: z.string().openapi({ description: 'The tier of compression.' }),
    budget: share.openapi({ description: 'Share of the tokens that may be left.' }),
    documents: count.openapi({ description: 'Number of documents.' }),
    cases: count.openapi({ description: 'Number of questions.' }),
    kept: share.openapi({ description: 'All facts survived, and the tokens are within the budget.' }),
    kept_ci95: interval,
    facts_kept: share.openapi({ description: 'Share of the facts that are still there.' }),
    over_budget: count.openapi({ description: 'Cases with more tokens than their budget.' }),
    tokens_before: count.openapi({ description: 'Tokens before compression.' }),
    tokens_after: count.openapi({ description: 'Tokens after it.' }),
    ...savedShares,
  })
  .openapi('BenchmarkRow', { description: 'One tier at one budget. Shares are between 0 and 1.' });

const pairedSchema = z
  .looseObject({
    a: z.string().openapi({ description: 'One tier.' }),
    b: z.string().openapi({ description: 'The other tier.' }),
    budget: share.openapi({ description: 'Share of the tokens that may be left.' }),
    cases: count.openapi({ description: 'Number of questions.' }),
    a_only: count.openapi({ description: 'Questions whose facts only `a` kept.' }),
    b_only: count.openapi({ description: 'Questions whose facts only `b` kept.' }),
    difference: share.openapi({ description: 'Share that `a` kept, less that of `b`.' }),
    ci95: interval,
  })
  .openapi('BenchmarkPaired', { description: 'Two tiers on the same questions: a minus b.' });

const losslessSchema = z
  .looseObject({
    kind,
    documents: count.openapi({ description: 'Number of documents.' }),
    decoded_equal: count.openapi({ description: 'Documents that decode to what they were.' }),
    identical: count.openapi({ description: 'Documents that nothing was changed of.' }),
    ...savedShares,
  })
  .openapi('BenchmarkLossless', { description: 'What the lossless tier saves of one kind of material.' });

const shown = z.looseObject({
  about: z.string().openapi({ description: 'What was asked, in words.' }),
  tiers: z.array(rowSchema).openapi({ description: 'Each tier at each budget.' }),
  paired: z.array(pairedSchema).openapi({ description: 'Tiers compared on the same questions.' }),
  lossless: z
    .array(losslessSchema)
    .optional()
    .openapi({ description: 'The lossless tier, by kind of material.' }),
});

const documentSchema = z.looseObject({
  type: z.literal('svc-benchmark-v1').openapi({ description: 'Always this.' }),
  node: z.enum(BENCHMARK_NODES).openapi({ description: 'Which of the four documents it is.' }),
  version: z.int().openapi({ description: 'The version of the format.' }),
  corpus: z
    .object({
      sha256: hexDigest.openapi({ description: 'The digest of the corpus.' }),
      documents: count.openapi({ description: 'Number of its documents.' }),
      cases: count.openapi({ description: 'Number of its questions.' }),
      tokens: count.openapi({ description: 'Number of its tokens.' }),
    })
    .openapi({ description: 'What was measured on.' }),
  command: z.string().openapi({ description: 'The command that repeats it.' }),
  generated_with: z
    .object({
      package: z.string().openapi({ description: 'The package that was measured.' }),
      version: z.string().openapi({ description: 'Its version.' }),
      tokenizer: z.string().openapi({ description: 'The encoding that counted.' }),
    })
    .openapi({ description: 'What measured it.' }),
  issued_at: timestamp.openapi({ description: 'When it was signed.' }),
  issuer_did: didText.openapi({ description: 'The service.' }),
  issuer_pubkey: publicKeyText,
  key_id: didText.openapi({ description: 'The id of the benchmark key.' }),
  sig_b64u: signatureText,
});

const summarySchema = documentSchema
  .extend({
    nodes: z
      .record(z.string(), shown.extend({ url: z.string().openapi({ description: 'Where the node is.' }) }))
      .openapi({ description: 'The other three documents in short, by name.' }),
    peers: z
      .array(
        z.looseObject({
          name: z.string().openapi({ description: 'Who reports.' }),
          source: z.string().openapi({ description: 'Where they report it.' }),
          quoted: z.literal(true).openapi({ description: 'It was not measured here.' }),
        }),
      )
      .openapi({ description: 'What others report of themselves.' }),
  })
  .openapi('Benchmark', { description: 'The benchmark of compression, signed (spec/benchmark.md).' });

const nodeSchema = documentSchema
  .extend({
    ...shown.shape,
    by: z.array(rowSchema.extend({ kind })).openapi({ description: 'The rows by kind.' }),
    by_wording: z
      .array(rowSchema.extend({ kind }))
      .openapi({ description: 'The rows by how the question is worded.' }),
    worst_cases: z
      .array(
        z.looseObject({
          id: z.string().openapi({ description: 'The id of the case.' }),
          question: z.string().openapi({ description: 'The question.' }),
          budget: share.openapi({ description: 'The budget at which it failed.' }),
        }),
      )
      .openapi({ description: 'Questions whose facts were lost.' }),
  })
  .openapi('BenchmarkNode', { description: 'A part of the benchmark in full, signed (spec/benchmark.md).' });

const pages: readonly {
  readonly node: BenchmarkNode;
  readonly operationId: string;
  readonly summary: string;
  readonly about: string;
}[] = [
  {
    node: 'benchmark',
    operationId: 'getBenchmark',
    summary: 'Read the compression benchmark',
    about:
      'How many facts survive in each tier at each budget, how many tokens are saved, the digest of the corpus and the command that reproduces the results. Results that others report about themselves are quoted and marked as such.',
  },
  {
    node: 'semantic',
    operationId: 'getSemanticBenchmark',
    summary: 'Benchmark: facts and answers',
    about: 'By the kind of question.',
  },
  {
    node: 'temporal',
    operationId: 'getTemporalBenchmark',
    summary: 'Benchmark: facts across turns and dates',
    about: 'The newest value of something that changed, an older one, when something happened.',
  },
  {
    node: 'modality',
    operationId: 'getModalityBenchmark',
    summary: 'Benchmark: by kind of material',
    about: 'Prose, dialogue, JSON, logs, tables, traces; and what the lossless tier saves of each.',
  },
];

const MAX_AGE = 300;

/** What compression keeps and saves, measured and signed (spec/benchmark.md). Free for everybody, as evidence should be. */
export function benchmarkRoutes({ issuer, clock }: Needs): Endpoint[] {
  const benchmark = createBenchmark(issuer, clock);
  return pages.map(({ node, operationId, summary, about }) =>
    endpoint({
      method: 'get',
      path: node === 'benchmark' ? '/v1/compute/benchmark' : `/v1/compute/benchmark/${node}`,
      operationId,
      group: COMPUTE,
      summary,
      description: `${about} Signed with the service’s benchmark key: \`tally verify\` checks it.`,
      availability: 'live',
      headers: { 'If-None-Match': 'An `ETag` received earlier: the answer is 304 if nothing changed.' },
      answers: {
        200: {
          description: 'The signed document',
          schema: node === 'benchmark' ? summarySchema : nodeSchema,
          headers: { ETag: 'Changes when the results or the key change.' },
        },
        304: { description: 'Not changed' },
      },
      errors: ['unavailable'],
      async handle(call) {
        const { text: body, etag } = await benchmark.node(node);
        const headers = { etag, 'cache-control': `public, max-age=${MAX_AGE}` };
        if (matches(header(call.c, 'if-none-match'), etag)) {
          return { status: 304, body: null, contentType: null, headers };
        }
        return text(body, 'application/json', { headers });
      },
    }),
  );
}
