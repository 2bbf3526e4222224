/** The fields of knowledge by which models are compared. */
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
