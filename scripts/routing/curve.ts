/** Whether each of the two graded models answered right: 0 or 1. */
export interface Graded {
  readonly weak: number;
  readonly strong: number;
}

/**
 * The area under the cost-quality curve recovered (APGR, RouteLLM, arXiv:2406.18665): the share of the gap
 * between always weak and always strong that is closed when the prompts with the highest scores go to the strong
 * model, averaged over the share of such prompts from 0 to 1. Random is 0.5. Equal scores count as in random order.
 */
export function apgr(scores: Float64Array, graded: readonly Graded[], rows: ArrayLike<number>): number {
  const order = Array.from(rows).sort((a, b) => scores[b]! - scores[a]!);
  let gained = 0;
  let area = 0;
  for (let start = 0; start < order.length; ) {
    let end = start;
    let gain = 0;
    while (end < order.length && scores[order[end]!] === scores[order[start]!]) {
      const { weak, strong } = graded[order[end]!]!;
      gain += strong - weak;
      end++;
    }
    area += (end - start) * (gained + gain / 2);
    gained += gain;
    start = end;
  }
  return area / order.length / gained;
}
