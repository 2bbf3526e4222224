import { type ErrorCode, errorTable } from '@tallystick/core';
import type { Dialect } from './dialect.ts';

/**
 * OpenAPI responses for these codes: one per status, its `code` narrowed to those with that status.
 * @param dialect that each has the form of too
 */
export function problemResponses(codes: readonly ErrorCode[], dialect: Dialect | undefined) {
  const byStatus = Map.groupBy(new Set(codes), (code) => errorTable[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, same]) => [
      status,
      {
        ...(same.includes('payment_required') && { headers: PAYMENT_REQUIRED }),
        description: same.map((code) => `\`${code}\`: ${errorTable[code].title}.`).join('\n'),
        content: {
          'application/problem+json': {
            schema: {
              type: 'object' as const,
              allOf: [{ $ref: `#/components/schemas/${dialect?.schema ?? 'Problem'}` }],
              properties: { code: { type: 'string' as const, enum: same } },
              ...(dialect && { required: [...dialect.required] }),
            },
          },
        },
      },
    ]),
  );
}

const PAYMENT_REQUIRED = {
  'PAYMENT-REQUIRED': {
    description:
      'With `payment_required`: how to pay by x402, base64 of JSON; the same as the problem’s `payment`.',
    schema: { type: 'string' as const },
  },
};

/** The schema of `Problem` in problem.ts. */
export const problemSchema = {
  type: 'object' as const,
  description: 'A problem document (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string' as const, format: 'uri', description: 'A page that explains the code.' },
    title: { type: 'string' as const, description: 'A short text, always the same for a code.' },
    status: { type: 'integer' as const, description: 'The HTTP status.' },
    detail: { type: 'string' as const, description: 'What is wrong in this case, and what to do next.' },
    code: {
      type: 'string' as const,
      enum: Object.keys(errorTable),
      description: 'The error code. It never changes: branch on it.',
    },
    field: { type: 'string' as const, description: 'The offending member: `purpose`, `receipts[3].ts`.' },
    error: {
      type: 'object' as const,
      description: 'Only under /v1/compute/: the same error in the form of OpenAI’s API.',
      required: ['message', 'type', 'param', 'code'],
      properties: {
        message: { type: 'string' as const, description: 'The same as `detail`.' },
        type: { type: 'string' as const, description: 'The kind of error, such as `invalid_request_error`.' },
        param: { type: ['string' as const, 'null' as const], description: 'The same as `field`, or null.' },
        code: {
          type: 'string' as const,
          description: 'OpenAI’s code where it has one, else the same as `code`.',
        },
      },
    },
    payment: {
      type: 'object' as const,
      description: 'With `payment_required` alone: how to pay (x402), as in PAYMENT-REQUIRED.',
    },
    session: {
      type: 'object' as const,
      description:
        'With `session_conflict` and `session_key_changed`: the place of the session’s next receipt.',
      required: ['id', 'seq', 'prev'],
      properties: {
        id: { type: 'string' as const, description: 'The id of the session.' },
        seq: {
          type: 'string' as const,
          description: 'The number of the next receipt, which is the number of receipts so far.',
        },
        prev: { type: 'string' as const, description: 'The anchored hash of the newest receipt.' },
      },
    },
    instance: { type: 'string' as const, description: '`urn:request:` and the value of `X-Request-Id`.' },
  },
};

/** The schema of `Problem` where Anthropic's API is spoken. */
export const anthropicProblemSchema = {
  ...problemSchema,
  description: 'A problem document (RFC 9457) in the form of an error of Anthropic’s API.',
  properties: {
    ...problemSchema.properties,
    type: {
      type: 'string' as const,
      enum: ['error'],
      description: 'Always this, as Anthropic’s clients want it.',
    },
    error: {
      type: 'object' as const,
      description: 'The same error in the form of Anthropic’s API.',
      required: ['type', 'message', 'details'],
      properties: {
        type: { type: 'string' as const, description: 'The kind of error, such as `invalid_request_error`.' },
        message: { type: 'string' as const, description: 'The same as `detail`.' },
        details: {
          type: 'object' as const,
          description: 'What Anthropic’s clients show as the error’s own code.',
          required: ['error_code'],
          properties: {
            error_code: {
              type: 'string' as const,
              description:
                'The same as `code`, or Anthropic’s own: `thread_unsupported_request` for `state_not_kept`.',
            },
            field: { type: 'string' as const, description: 'The same as `field`.' },
          },
        },
      },
    },
    request_id: { type: 'string' as const, description: 'The value of `X-Request-Id`.' },
  },
};
