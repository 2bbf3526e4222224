import { z } from '@hono/zod-openapi';
import type { Payments } from '@tallystick/payments';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { evmAddress } from './shapes.ts';

/** The list of endpoints that can be paid with a request. */
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
      operationId: 'listPayableResources',
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
              x402Version: z.literal(2).openapi({ description: 'The version of x402.' }),
              network: z.string().nullable().openapi({ description: 'CAIP-2.' }),
              asset: evmAddress.nullable().openapi({ description: 'The contract of USDC there.' }),
              pay_to: evmAddress.nullable().openapi({ description: 'The treasury.' }),
              resources: z
                .array(
                  z.looseObject({
                    method: z.string().openapi({ description: 'The method of the request.' }),
                    url: z
                      .string()
                      .openapi({ description: 'Its URL; `{name}` stands for a path parameter.' }),
                    unit: z.string().openapi({ description: 'What the price is for.' }),
                  }),
                )
                .openapi({ description: 'What can be paid for.' }),
            })
            .openapi('Payable', { description: 'What can be paid for by x402.' }),
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
