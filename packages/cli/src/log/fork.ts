import { type ProvenFork, toHex, verifyFork } from '@tallystick/core';
import { judgeForkFile } from '../fork-file.ts';
import { type Exit, paint, print, printJson } from '../output.ts';
import { printable } from '../printable.ts';

/** Checks the fork file at a path by itself, and prints what it proves, or why it proves nothing. */
export function verifyForkFile(path: string, json: boolean): Promise<Exit> {
  return judgeForkFile(path, json, verifyFork, printFork);
}

function printFork({ origin, log, kind, smaller, larger, detail }: ProvenFork, json: boolean): void {
  const trees = [smaller, larger].map(({ size, root }) => ({ size, root: toHex(root) }));
  if (json) return printJson({ proves_fork: true, origin, log, kind, trees, detail });
  print(
    `${paint('green', '✓')} ${paint('bold', `Proves that ${printable(origin)} forked`)}  ${printable(detail)}`,
  );
  for (const { size, root } of trees) print(`  signed  ${size} leaves  ${root}`);
  print(`  key     ${printable(log)}`);
}
