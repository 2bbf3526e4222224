import { paint, printable } from '@tallystick/cli/toolkit';
import type { Block, Compressed } from '@tallystick/compress';

/** Most lines of a removed, added or unchanged stretch that are shown; the rest is counted. */
const MAX_LINES = 12;
/** Texts with more pairs of lines than this are shown one after the other. */
const MAX_CELLS = 4_000_000;

/** A coloured diff of each block, and what each method saved. */
export function explanation({ account, blocks }: Compressed): string {
  const { tokenizer, tokens_before: before, tokens_after: after, methods } = account;
  const share = before === 0 ? 0 : (100 * (before - after)) / before;
  const saved = Object.entries(methods).map(([method, tokens]) => `  ${method.padEnd(14)} ${tokens}`);
  return [
    ...blocks.flatMap(blockLines),
    paint('bold', `${before} tokens before, ${after} after: ${share.toFixed(1)}% fewer`),
    paint('dim', `  counted with ${tokenizer}`),
    ...saved,
  ].join('\n');
}

function blockLines(block: Block): string[] {
  const { message, part, kind, steps, tokens_before: before, tokens_after: after } = block;
  const place = part === null ? `message ${message + 1}` : `message ${message + 1}, part ${part + 1}`;
  const done = steps.length === 0 ? 'kept' : steps.map(({ method }) => method).join(', ');
  const head = `${place}: ${kind}, ${before} tokens -> ${after} (${done})`;
  return steps.length === 0 ? [paint('dim', head)] : [paint('bold', head), ...diffLines(block), ''];
}

function diffLines({ original, text }: Block): string[] {
  const lines = diff(original.split('\n'), text.split('\n'));
  const shown: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const { sign = ' ' } = lines[at] ?? {};
    const changes = lines.findIndex((line, i) => i > at && line.sign !== sign);
    const end = changes < 0 ? lines.length : changes;
    const paintRun = (run: string): string =>
      sign === ' ' ? paint('dim', run) : paint(sign === '+' ? 'green' : 'red', run);
    for (const { line } of lines.slice(at, Math.min(end, at + MAX_LINES)))
      shown.push(paintRun(`${sign} ${printable(line.replaceAll('\t', '  '))}`));
    if (end - at > MAX_LINES) shown.push(paintRun(`${sign} … ${end - at - MAX_LINES} more lines`));
    at = end;
  }
  return shown;
}

interface DiffLine {
  readonly sign: ' ' | '+' | '-';
  readonly line: string;
}

/** The lines of both texts, common ones once: a longest common subsequence. */
function diff(before: readonly string[], after: readonly string[]): DiffLine[] {
  if (before.length * after.length > MAX_CELLS)
    return [
      ...before.map((line) => ({ sign: '-', line }) as const),
      ...after.map((line) => ({ sign: '+', line }) as const),
    ];
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const common = before[i] === after[j];
      lengths[i * width + j] = common ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    const [old = '', fresh = ''] = [before[i], after[j]];
    if (i < before.length && j < after.length && old === fresh) {
      lines.push({ sign: ' ', line: old });
      i++;
      j++;
    } else if (i < before.length && (j >= after.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: '-', line: old });
      i++;
    } else {
      lines.push({ sign: '+', line: fresh });
      j++;
    }
  }
  return lines;
}
