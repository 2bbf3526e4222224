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
  /** Whether the tool was allowed, but none of the candidate models takes tools. */
  readonly toolless: boolean;
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
        'For `extractive`: how many tokens of the messages may remain; a number below 1 is a share of them.',
      default: 0.5,
    }),
  retrieve: z.boolean().optional().openapi({
    description:
      'Whether to add the tool `svc_retrieve`, with which a model gets back what was cut. The service answers its calls. Without it only repeated text is removed.',
    default: false,
  }),
};

export function readCompression(
  svc: {
    compression?: RequestTier | undefined;
    budget?: number | undefined;
    retrieve?: boolean | undefined;
  } = {},
  takesTools = true,
): CompressionOptions {
  const allowed = svc.retrieve ?? false;
  return {
    tier: svc.compression ?? 'lossless',
    budget: svc.budget ?? null,
    retrieve: allowed && takesTools,
    toolless: allowed && !takesTools,
  };
}
