import { z } from '@hono/zod-openapi';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Payments } from '../payments/x402/payments.ts';

/** The list of what can be paid for with a request. */
export function payableRoutes(
  payments: Payments | null,
  { endpoints, urlOf }: { readonly endpoints: readonly Endpoint[]; readonly urlOf: (path: string) => string },
): Endpoint[] {
  const resources = endpoints.flatMap(({ method, path, price }) =>
    price === null
      ? []
      : [
          {
            method: method.toUpperCase(),
            url: urlOf(path),
            price_usd: price.usd,
            unit: price.unit,
            schemes: price.schemes,
          },
        ],
  );
  return [
    endpoint({
      method: 'get',
      path: '/.well-known/x402',
      group: 'Operations',
      summary: 'List what can be paid for by x402',
      description:
        'Each resource with its price, currency and payee. The 402 answer to a request states what that request costs (PAYMENT-REQUIRED). The list is empty if payments are off.',
      availability: 'live',
      answers: {
        200: {
          description: 'The list',
          schema: z
            .object({
              x402Version: z.literal(2),
              network: z.string().nullable().openapi({ description: 'CAIP-2.' }),
              asset: z.string().nullable(),
              pay_to: z.string().nullable(),
              resources: z.array(z.looseObject({ method: z.string(), url: z.string() })),
            })
            .openapi('Payable'),
        },
      },
      handle: () =>
        json({
          x402Version: 2,
          network: payments?.network ?? null,
          asset: payments?.asset ?? null,
          pay_to: payments?.treasury ?? null,
          resources: payments === null ? [] : resources,
        }),
    }),
  ];
}
