import { z } from '@hono/zod-openapi';
import type { Payments } from '@tallystick/payments';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';

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
      summary: 'What can be paid for by x402',
      description:
        'Each resource with its price, and what it is paid in and to. What a request itself costs is what its 402 says (PAYMENT-REQUIRED). Empty where payments are off.',
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
