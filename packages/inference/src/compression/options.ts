import { z } from '@hono/zod-openapi';

export const TIERS = ['off', 'lossless', 'extractive'] as const;
export type RequestTier = (typeof TIERS)[number];

/** The share of a prompt that is kept where no budget is given; as in `compress`. */
export const DEFAULT_SHARE = 0.5;

/** How a caller wants its prompt compressed. */
export interface CompressionOptions {
  readonly tier: RequestTier;
  /** Tokens, or a share below 1; null for half. */
  readonly budget: number | null;
  /** Whether the tool `svc_retrieve` is added. */
  readonly retrieve: boolean;
  /** Whether code may be cut, by whole functions. */
  readonly code: boolean;
  /** Whether the tool was allowed, but none of the candidate models takes tools. */
  readonly toolless: boolean;
  /** Whether text may be cut that the model cannot ask for: the caller gives a budget, and does not ask for the tool. */
  readonly forGood: boolean;
}

/** The members of `svc` about compression. */
export const compressionMembers = {
  compression: z.enum(TIERS).optional().openapi({
    description:
      'How the prompt is compressed: not at all; only reversibly, such as JSON without white space (the default); or by cutting what the question needs least.',
    default: 'lossless',
  }),
  budget: z
    .number()
    .positive()
    .max(100_000_000)
    .refine((budget) => budget < 1 || Number.isInteger(budget), 'Not a number of tokens, or a share below 1')
    .optional()
    .openapi({
      description:
        'For `extractive`: how many tokens of the messages may remain; a number below 1 is a share of them. With a budget text is cut even without `retrieve`, and the model cannot ask for it then.',
      default: 0.5,
    }),
  retrieve: z.boolean().optional().openapi({
    description:
      'Whether to add the tool `svc_retrieve`, with which a model gets back exactly what was cut. The service answers its calls. Without it and without a `budget` only repeated text is removed.',
    default: false,
  }),
  code: z.boolean().optional().openapi({
    description:
      'For `extractive`: whether code may be cut too, by whole functions, whose names stay. Diffs and code outside of material stay as they are.',
    default: false,
  }),
};

export function readCompression(
  svc: {
    compression?: RequestTier | undefined;
    budget?: number | undefined;
    retrieve?: boolean | undefined;
    code?: boolean | undefined;
  } = {},
  takesTools = true,
): CompressionOptions {
  const { compression: tier = 'lossless', budget = null, retrieve: allowed = false } = svc;
  return {
    tier,
    budget,
    retrieve: allowed && takesTools,
    code: svc.code ?? false,
    toolless: allowed && !takesTools,
    forGood: tier === 'extractive' && budget !== null && !allowed,
  };
}
