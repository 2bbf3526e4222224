/** Moves heights as little as possible, so that they are `gap` apart and at or above `floor`, in the same order. */
export function apart(heights: readonly number[], gap: number, floor: number): number[] {
  const order = heights.map((_, index) => index).sort((a, b) => (heights[a] ?? 0) - (heights[b] ?? 0));
  const moved = [...heights];
  let lowest = floor + gap;
  for (const index of order.toReversed()) {
    moved[index] = Math.min(moved[index] ?? 0, lowest - gap);
    lowest = moved[index] ?? 0;
  }
  return moved;
}
