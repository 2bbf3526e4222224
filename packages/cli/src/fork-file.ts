import { TallyError } from '@tallystick/core';
import { nameOf, readJson } from './input.ts';
import { EXIT, type Exit, paint, print, printJson } from './output.ts';
import { printable } from './printable.ts';

/**
 * Checks the fork file at a path by itself, and prints what it proves, or why it proves nothing.
 * @param verify rejects with a TallyError where the file proves nothing
 * @param show prints what is proved
 */
export async function judgeForkFile<Proven>(
  path: string,
  json: boolean,
  verify: (file: Awaited<ReturnType<typeof readJson>>) => Promise<Proven>,
  show: (proven: Proven, json: boolean) => void,
): Promise<Exit> {
  const file = await readJson(path);
  try {
    show(await verify(file), json);
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
