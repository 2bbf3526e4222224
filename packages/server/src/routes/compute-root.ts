import { z } from '@hono/zod-openapi';
import { SPREAD_PERCENT } from '@tallystick/ledger';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { COMPUTE } from './compute-shapes.ts';
import { didText } from './shapes.ts';

type Needs = Pick<Services, 'config' | 'issuer'>;

/** The descriptor of the inference routes (specification 2.11). */
export function computeRootRoutes(services: Needs): Endpoint[] {
  const descriptor = describeCompute(services);
  return [
    endpoint({
      method: 'get',
      path: '/v1/compute',
      operationId: 'getComputeDescriptor',
      group: COMPUTE,
      summary: 'Describe the inference API',
      availability: 'live',
      answers: {
        200: {
          description: 'The descriptor',
          schema: z
            .object({
              service: z.string().openapi({ description: 'The name of the service.' }),
              version: z.literal('2.0.0').openapi({ description: 'The version of this descriptor.' }),
              description: z.string().openapi({ description: 'What it is, in words.' }),
              endpoints: z
                .record(z.string(), z.string())
                .openapi({ description: 'Method and path of each, by name.' }),
              benchmark_note: z
                .string()
                .openapi({ description: 'What of compression is measured, in words.' }),
              pricing: z.looseObject({}).openapi({ description: 'How calls are charged.' }),
              routing_spread_pct: z
                .record(z.string(), z.int())
                .openapi({ description: 'Share of the saving that goes back, by member tier, in percent.' }),
              member_registration: z.looseObject({}).openapi({ description: 'How a DID is registered.' }),
              network: z
                .looseObject({
                  chain: z.string().openapi({ description: 'The chain’s name.' }),
                  chain_id: z.int().openapi({ description: 'The number of the chain (EIP-155).' }),
                  operator: didText.openapi({ description: 'The service.' }),
                })
                .openapi({ description: 'The chain that the service posts to.' }),
              agent_onboarding: z
                .looseObject({
                  base_url: z
                    .string()
                    .openapi({ format: 'uri', description: 'The base URL for OpenAI’s clients.' }),
                })
                .openapi({ description: 'How an agent begins.' }),
            })
            .openapi('ComputeDescriptor', {
              description: 'The inference routes, for programs (specification 2.11).',
            }),
        },
      },
      handle: () => json(descriptor),
    }),
  ];
}

function describeCompute({ config, issuer }: Needs) {
  const { apiUrl, receiptsUrl, chain, freeReadPerDay, payments } = config;
  return {
    service: 'tallystick-compute',
    version: '2.0.0',
    description:
      'OpenAI-compatible inference, routed and metered: each answer says which model it was routed to and why and what it cost, and carries a signed receipt.',
    endpoints: {
      chat_completions: 'POST /v1/compute/chat/completions',
      completions: 'POST /v1/compute/completions',
      messages: 'POST /v1/compute/messages',
      count_tokens: 'POST /v1/compute/messages/count_tokens',
      responses: 'POST /v1/compute/responses',
      models: 'GET /v1/compute/models',
      estimate: 'POST /v1/compute/estimate',
      compression_stats: 'GET /v1/compute/compression/stats',
      usage: 'GET /v1/compute/usage/:did',
      embeddings: 'POST /v1/compute/embeddings',
      benchmark: 'GET /v1/compute/benchmark',
      benchmark_semantic: 'GET /v1/compute/benchmark/semantic',
      benchmark_temporal: 'GET /v1/compute/benchmark/temporal',
      benchmark_modality: 'GET /v1/compute/benchmark/modality',
      mcp: 'POST /mcp',
      member_register: 'POST /v1/compute/member/register',
      member_leaderboard: 'GET /v1/compute/member/leaderboard',
      member_verify: 'GET /v1/compute/member/verify/:did',
    },
    benchmark_note: `What compression keeps and saves is measured on a corpus that ships with the source, and signed: ${apiUrl}/v1/compute/benchmark. Anyone can repeat it with \`npm run benchmark\`.`,
    pricing: {
      asset: 'USDC',
      unit: '1,000,000 tokens',
      billed:
        "What the call would have cost uncompressed, less the caller's share of the saving, to the nano-USDC; GET /v1/compute/models lists the prices.",
      free_reads_per_day: freeReadPerDay === 0 ? null : freeReadPerDay,
      payment: payments.mode === 'off' ? null : { protocol: 'x402', resources: `${apiUrl}/.well-known/x402` },
    },
    routing_spread_pct: SPREAD_PERCENT,
    member_registration: {
      endpoint: 'POST /v1/compute/member/register',
      price_usd: '0',
      authentication: 'none',
      tiers_at_jobs: { member: 0, member_enterprise: 100, member_scale: 10_000 },
    },
    network: { chain: chain.network, chain_id: chain.id, operator: issuer.did },
    agent_onboarding: {
      base_url: `${apiUrl}/v1/compute`,
      header: 'X-Agent-DID',
      proof: 'HTTP message signature (RFC 9421, Ed25519) where money or private data is at stake',
      docs: `${receiptsUrl}/docs`,
    },
  };
}
