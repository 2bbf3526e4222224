import type { Witnessed } from './judge.ts';

/** The verdict on witnesses as text: `2 of 3 witnesses (a, b); enough, at least 2 required`. */
export function witnessedText({ by, of, required, satisfied }: Witnessed): string {
  const names = by.length === 0 ? '' : ` (${by.join(', ')})`;
  return `${by.length} of ${of} witnesses${names}; ${satisfied ? 'enough' : 'not enough'}, at least ${required} required`;
}
