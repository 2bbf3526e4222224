/** The fields that a model's ability is told apart by. */
export const DOMAINS = [
  'general',
  'mathematics',
  'code',
  'science',
  'medicine',
  'law',
  'humanities',
  'business',
] as const;

export type Domain = (typeof DOMAINS)[number];
