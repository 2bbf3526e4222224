import { readSessionReceipt, type SessionReceipt, TallyError } from '@tallystick/core';
import { readBytes } from '../input.ts';
import { print, printJson, remark } from '../output.ts';
import { entryLine } from './lines.ts';

/** Shows what a session's file says, without judging it. */
export async function showSession(file: string, { json }: { readonly json?: boolean }): Promise<void> {
  const lines = new TextDecoder().decode(await readBytes(file)).split('\n');
  const shown = lines
    .filter((line) => line !== '')
    .map((line, index) => ({ line: index + 1, read: read(line) }));
  if (json) {
    printJson(shown.map(({ line, read: receipt }) => ({ line, ...(receipt ?? { unreadable: true }) })));
  } else {
    for (const { line, read: receipt } of shown) {
      if (receipt === null) print(`      Line ${line} is no receipt of a session.`);
      else print(entryLine({ ...receipt, seq: Number(receipt.call.session.seq) }));
    }
  }
  remark(`Nothing of this is verified yet: tally session verify ${file}`);
}

function read(line: string): SessionReceipt | null {
  try {
    return readSessionReceipt(line);
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}
