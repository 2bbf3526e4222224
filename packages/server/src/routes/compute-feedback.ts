import { z } from '@hono/zod-openapi';
import { AGENT_HEADERS, CALLER_ERRORS } from '@tallystick/callers';
import { formatTimestamp, receiptIdPattern, TallyError } from '@tallystick/core';
import type { Rating } from '@tallystick/inference';
import { X402 } from '@tallystick/ledger';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { ACCOUNT_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { COMPUTE } from './compute-shapes.ts';
import { receiptIdText, storable, timestamp } from './shapes.ts';

type Needs = Pick<Services, 'callers' | 'compute'>;

const LABEL_SCORES = { good: 100, bad: 0 } as const;
const LABELS = ['good', 'bad'] as const;
const MOST_COMMENT = 500;

const score = z.int().min(0).max(100).openapi({
  description: 'From 0 for a useless answer to 100 for one as good as can be.',
});
const label = z.enum(LABELS).openapi({ description: '`good` is a score of 100, `bad` one of 0.' });

const bodySchema = z.strictObject({
  receipt_id: z
    .string()
    .regex(receiptIdPattern, 'Not the id of a receipt')
    .openapi({ description: 'Id of the receipt of the rated call.' }),
  score: score.optional(),
  label: label.optional(),
  comment: z
    .string()
    .min(1)
    .max(MOST_COMMENT)
    .refine(...storable)
    .optional()
    .openapi({
      description: `At most ${MOST_COMMENT} characters for the operator. It is stored as it is: leave out what is private.`,
    }),
});

const feedbackSchema = z
  .object({
    receipt_id: receiptIdText.openapi({ description: 'Id of the receipt of the rated call.' }),
    model: z.string().openapi({ description: 'Id of the model that answered.', example: 'local/extract-1' }),
    score,
    label: label.nullable(),
    comment: z.string().nullable().openapi({ description: 'As it was given.' }),
    rated_at: timestamp.openapi({ description: 'When the call was rated.' }),
  })
  .openapi('Feedback', { description: 'How a caller rates an answer.' });

/** Ratings of answers by whoever paid for them. */
export function feedbackRoutes({ callers, compute }: Needs): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/v1/compute/feedback',
      operationId: 'rateCall',
      credentials: ACCOUNT_CREDENTIALS,
      group: COMPUTE,
      summary: 'Rate the answer of a call',
      description:
        'Takes one rating of a call, with `score` or `label`, from the API key that the call was made with, or the DID that signed it. The first rating stands: the same again is answered alike. Free. A call can be rated from a second after its answer, for as many days as the operator allows (7 as it comes).',
      availability: 'live',
      headers: {
        Authorization: '`Bearer` and the API key that the call was made with.',
        ...AGENT_HEADERS,
      },
      body: bodySchema,
      example: { receipt_id: 'r_env_1803902400_0123456789ab', label: 'good' },
      answers: { 200: { description: 'The rating of the call', schema: feedbackSchema } },
      errors: [...CALLER_ERRORS, 'conflicting_fields', 'receipt_not_found', 'rated_otherwise'],
      admit: callers.admitCaller,
      async handle(call) {
        const { name: account } = await callers.callerOf(call);
        const { receipt_id: receiptId } = call.body;
        const rating = ratingOf(call.body);
        const rated = account === X402 ? null : await compute.rate(receiptId, account, rating);
        if (rated === null) throw unknownCall();
        if (!isSame(rated.rating, rating)) throw ratedOtherwise();
        return json({
          receipt_id: receiptId,
          model: rated.model,
          ...rated.rating,
          rated_at: formatTimestamp(rated.ratedAt * 1_000),
        });
      },
    }),
  ];
}

/** @throws missing_field, conflicting_fields */
function ratingOf({ score, label, ...rest }: z.infer<typeof bodySchema>): Rating {
  const comment = rest.comment ?? null;
  if (score !== undefined && label !== undefined)
    throw new TallyError('conflicting_fields', 'label: give either score or label, not both.', {
      field: 'label',
    });
  if (label !== undefined) return { score: LABEL_SCORES[label], label, comment };
  if (score !== undefined) return { score, label: null, comment };
  throw new TallyError('missing_field', 'score: give score (0 to 100) or label (good or bad).', {
    field: 'score',
  });
}

const isSame = (one: Rating, other: Rating): boolean =>
  one.score === other.score && one.label === other.label && one.comment === other.comment;

/** Does not say whether somebody else has made the call. */
function unknownCall(): TallyError {
  return new TallyError(
    'receipt_not_found',
    'receipt_id: these credentials made no call with this receipt that can be rated. Only calls of chat models can be, a second after their answer and for a limited number of days.',
    { field: 'receipt_id' },
  );
}

function ratedOtherwise(): TallyError {
  return new TallyError(
    'rated_otherwise',
    'receipt_id: the call has another rating already, and the first one stands.',
    { field: 'receipt_id' },
  );
}
