/** A stretch of text that both sides have, or only one. */
export interface Part {
  readonly in: 'both' | 'old' | 'new';
  readonly text: string;
}

/** Differences beyond which it looks for them in longer pieces: the work grows with their square. */
const MOST = 1_500;
/** Words and members of JSON with what is after them, sentences, lines. */
const PIECES = [
  /[^\s,{}[\]]+[\s,{}[\]]*|[\s,{}[\]]+/g,
  /[^.!?\n]+[.!?\n]*\s*|[.!?\n]\s*/g,
  /[^\n]*\n|[^\n]+/g,
] as const;

/**
 * What differs between two texts, in order: the `both` and `old` parts make up the old text, the `both` and `new` ones
 * the new one. Null where they differ in so many lines that no marks would help.
 */
export function differences(old: string, now: string): Part[] | null {
  for (const piece of PIECES) {
    const found = diff(old.match(piece) ?? [], now.match(piece) ?? []);
    if (found !== null) return joined(found);
  }
  return null;
}

/** Myers, “An O(ND) difference algorithm and its variations”, 1986; null beyond `MOST` differences. */
function diff(old: readonly string[], now: readonly string[]): Part[] | null {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const [before, after] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const middle = shortest(before, after);
  if (middle === null) return null;
  const both = (texts: readonly string[]): Part[] => texts.map((text) => ({ in: 'both', text }));
  return [...both(old.slice(0, start)), ...middle, ...both(old.slice(old.length - end))];
}

function shortest(old: readonly string[], now: readonly string[]): Part[] | null {
  const [height, width] = [old.length, now.length];
  const most = Math.min(height + width, MOST);
  // The furthest place in the old text on each diagonal, after each number of differences.
  const trace: Int32Array[] = [];
  let furthest = new Int32Array(2 * most + 3);
  const middle = most + 1;
  for (let d = 0; d <= most; d++) {
    trace.push(furthest.slice(middle - d - 1, middle + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && at(furthest, middle + k - 1) < at(furthest, middle + k + 1));
      let x = down ? at(furthest, middle + k + 1) : at(furthest, middle + k - 1) + 1;
      while (x < height && x - k < width && old[x] === now[x - k]) x++;
      furthest[middle + k] = x;
      if (x >= height && x - k >= width) return backtrack(trace, old, now);
    }
  }
  return null;
}

const at = (list: Int32Array, index: number): number => list[index] ?? 0;

function backtrack(trace: readonly Int32Array[], old: readonly string[], now: readonly string[]): Part[] {
  const parts: Part[] = [];
  let [x, y] = [old.length, now.length];
  for (let d = trace.length - 1; d >= 0; d--) {
    const furthest = trace[d] ?? new Int32Array();
    const k = x - y;
    const place = k + d + 1;
    const down = k === -d || (k !== d && at(furthest, place - 1) < at(furthest, place + 1));
    const fromX = d === 0 ? 0 : down ? at(furthest, place + 1) : at(furthest, place - 1);
    const fromY = d === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
    // The diagonal ends where the step came in: below it, or to the right of it.
    const [cornerX, cornerY] = d === 0 ? [0, 0] : down ? [fromX, fromY + 1] : [fromX + 1, fromY];
    for (; x > cornerX && y > cornerY; y--) parts.push({ in: 'both', text: old[--x] ?? '' });
    if (d === 0) break;
    if (down) parts.push({ in: 'new', text: now[--y] ?? '' });
    else parts.push({ in: 'old', text: old[--x] ?? '' });
  }
  return parts.toReversed();
}

function joined(parts: readonly Part[]): Part[] {
  const made: { in: Part['in']; text: string }[] = [];
  for (const part of parts) {
    const last = made.at(-1);
    if (last?.in === part.in) last.text += part.text;
    else made.push({ ...part });
  }
  return made;
}
