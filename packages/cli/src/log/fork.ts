import { type ProvenFork, TallyError, toHex, verifyFork } from '@tallystick/core';
import { nameOf, readJson } from '../input.ts';
import { EXIT, type Exit, paint, print, printJson } from '../output.ts';
import { printable } from '../printable.ts';

/** Checks the fork file at a path by itself, and prints what it proves, or why it proves nothing. */
export async function verifyForkFile(path: string, json: boolean): Promise<Exit> {
  const file = await readJson(path);
  try {
    printFork(await verifyFork(file), json);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    const { code, message } = error;
    if (json) printJson({ proves_fork: false, error: { code, message } });
    else
      print(
        `${paint('red', '✗')} ${paint('bold', 'No proof of a fork')}  ${printable(`${nameOf(path)}: ${message} (${code})`)}`,
      );
    return EXIT.failed;
  }
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
