import { writeOut } from '../files.ts';
import { print, printJson, remark } from '../output.ts';
import type { Destination } from '../receipt-out.ts';
import type { AnchorAnswer } from './results.ts';

/** Prints the state of a hash, or writes it to `--out`, as the service returned it. @param file the receipt's file, if any */
export function writeAnchorResult(
  { text, json: body, state }: AnchorAnswer,
  { out, json }: Destination,
  file?: string,
): void {
  const { kind, ref } = state;
  if (out !== undefined) {
    writeOut(out, `${text}\n`);
    if (json) printJson({ file: out, anchor_ref: ref, state: kind });
    else remark(`Wrote the ${kind} result to ${out}.`);
  } else if (json) printJson(body);
  else print(text);
  if (json) return;
  if (state.kind === 'pending') {
    const due = state.etaSeconds === 0 ? 'is due' : `is posted in ${state.etaSeconds} s`;
    remark(
      `Pending: its root ${due}. Fetch the anchor then with: tally anchor get ${file ?? ref} --wait --out <file>`,
    );
  } else if (out !== undefined && file !== undefined) {
    remark(`Check it with: tally verify ${file} --anchor ${out}`);
  }
}
