import { z } from '@hono/zod-openapi';
import { BENCHMARK_NODES, type BenchmarkNode } from '@tallystick/core';
import { createBenchmark } from '../compute/benchmark/benchmark.ts';
import { text } from '../http/answer.ts';
import { matches } from '../http/conditional.ts';
import { header } from '../http/context.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { COMPUTE } from './compute-shapes.ts';

const share = z.number();
const interval = z.tuple([share, share]);

const rowSchema = z
  .looseObject({
    tier: z.string(),
    budget: share,
    documents: z.int(),
    cases: z.int(),
    kept: share.openapi({ description: 'All facts survived, and the tokens are within the budget.' }),
    kept_ci95: interval,
    facts_kept: share,
    over_budget: z.int().openapi({ description: 'Cases with more tokens than their budget.' }),
    tokens_before: z.int(),
    tokens_after: z.int(),
    saved_median: share,
    saved_worst: share,
    saved_best: share,
  })
  .openapi('BenchmarkRow', { description: 'One tier at one budget. Shares are between 0 and 1.' });

const pairedSchema = z
  .looseObject({
    a: z.string(),
    b: z.string(),
    budget: share,
    cases: z.int(),
    a_only: z.int(),
    b_only: z.int(),
    difference: share,
    ci95: interval,
  })
  .openapi('BenchmarkPaired', { description: 'Two tiers on the same questions: a minus b.' });

const losslessSchema = z.looseObject({
  kind: z.string(),
  documents: z.int(),
  decoded_equal: z.int(),
  identical: z.int(),
  saved_median: share,
  saved_worst: share,
  saved_best: share,
});

const shown = z.looseObject({
  about: z.string(),
  tiers: z.array(rowSchema),
  paired: z.array(pairedSchema),
  lossless: z.array(losslessSchema).optional(),
});

const documentSchema = z.looseObject({
  type: z.literal('svc-benchmark-v1'),
  node: z.enum(BENCHMARK_NODES),
  version: z.int(),
  corpus: z.object({ sha256: z.string(), documents: z.int(), cases: z.int(), tokens: z.int() }),
  command: z.string(),
  generated_with: z.object({ package: z.string(), version: z.string(), tokenizer: z.string() }),
  issued_at: z.string(),
  issuer_did: z.string(),
  issuer_pubkey: z.string(),
  key_id: z.string(),
  sig_b64u: z.string(),
});

const summarySchema = documentSchema
  .extend({
    nodes: z.record(z.string(), shown.extend({ url: z.string() })),
    peers: z.array(z.looseObject({ name: z.string(), source: z.string(), quoted: z.literal(true) })),
  })
  .openapi('Benchmark');

const nodeSchema = documentSchema
  .extend({
    ...shown.shape,
    by: z.array(rowSchema.extend({ kind: z.string() })),
    by_wording: z.array(rowSchema.extend({ kind: z.string() })),
    worst_cases: z.array(z.looseObject({ id: z.string(), question: z.string(), budget: share })),
  })
  .openapi('BenchmarkNode');

const pages: readonly { readonly node: BenchmarkNode; readonly summary: string; readonly about: string }[] = [
  {
    node: 'benchmark',
    summary: 'Read the compression benchmark',
    about:
      'How many facts survive in each tier at each budget, how many tokens are saved, the digest of the corpus and the command that reproduces the results. Results that others report about themselves are quoted and marked as such.',
  },
  { node: 'semantic', summary: 'Benchmark: facts and answers', about: 'By the kind of question.' },
  {
    node: 'temporal',
    summary: 'Benchmark: facts across turns and dates',
    about: 'The newest value of something that changed, an older one, when something happened.',
  },
  {
    node: 'modality',
    summary: 'Benchmark: by kind of material',
    about: 'Prose, dialogue, JSON, logs, tables, traces; and what the lossless tier saves of each.',
  },
];

const MAX_AGE = 300;

/** What compression keeps and saves, measured and signed (spec/benchmark.md). Free to all: a proof that costs is none. */
export function benchmarkRoutes({ issuer, clock }: Services): Endpoint[] {
  const benchmark = createBenchmark(issuer, clock);
  return pages.map(({ node, summary, about }) =>
    endpoint({
      method: 'get',
      path: node === 'benchmark' ? '/v1/compute/benchmark' : `/v1/compute/benchmark/${node}`,
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
