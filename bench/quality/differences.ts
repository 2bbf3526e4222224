const MOST = 60;

/** Lists where two JSON values differ, a line for each place, and counts the rest. */
export function differences(before: unknown, after: unknown): string[] {
  const lines = [...compared(before, after, '')];
  const more = lines.length - MOST;
  return more > 0 ? [...lines.slice(0, MOST), `… and ${more} more`] : lines;
}

function* compared(before: unknown, after: unknown, path: string): Generator<string> {
  if (isTree(before) && isTree(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      yield* compared(before[key], after[key], path === '' ? key : `${path}.${key}`);
    }
  } else if (JSON.stringify(before) !== JSON.stringify(after)) {
    yield `${path}: ${short(before)} → ${short(after)}`;
  }
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 120);
}
