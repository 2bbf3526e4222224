const SHINGLE = 4;
/** Least share of common shingles (Jaccard) from which two prompts count as the same. */
const ALIKE = 0.7;
/** A shingle in more prompts than this is boilerplate: it proposes no pairs, but counts when prompts are compared. */
const COMMON = 40;

/** Numbers the prompts so that similar ones, directly or through others, have the same number. */
export function duplicateGroups(prompts: readonly string[]): Int32Array {
  const shingles = prompts.map(shinglesOf);
  const holders = new Map<string, number[]>();
  for (const [index, set] of shingles.entries())
    for (const shingle of set) {
      const found = holders.get(shingle);
      if (found === undefined) holders.set(shingle, [index]);
      else if (found.length <= COMMON) found.push(index);
    }
  const parent = Int32Array.from(prompts, (_, index) => index);
  for (const held of holders.values()) {
    if (held.length < 2 || held.length > COMMON) continue;
    for (const [position, one] of held.entries())
      for (const other of held.slice(0, position)) {
        const [a, b] = [root(parent, one), root(parent, other)];
        if (a !== b && jaccard(shingles[one]!, shingles[other]!) >= ALIKE) parent[a] = b;
      }
  }
  return parent.map((_, index) => root(parent, index));
}

function shinglesOf(prompt: string): ReadonlySet<string> {
  const words = prompt.toLowerCase().match(/[a-z]+|\d+|[^\sa-z\d]/g) ?? [];
  const last = Math.max(1, words.length - SHINGLE + 1);
  return new Set(Array.from({ length: last }, (_, start) => words.slice(start, start + SHINGLE).join(' ')));
}

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (Math.min(a.size, b.size) < ALIKE * Math.max(a.size, b.size)) return 0;
  let shared = 0;
  for (const shingle of a) if (b.has(shingle)) shared++;
  return shared / (a.size + b.size - shared);
}

function root(parent: Int32Array, index: number): number {
  let at = index;
  while (parent[at] !== at) at = parent[at] ?? at;
  return at;
}
