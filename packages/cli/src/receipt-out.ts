import { type JsonObject, type JsonValue, TallyError, utf8, verify } from '@tallystick/core';
import { writeOut } from './files.ts';
import { print, printJson, remark } from './output.ts';

/** Where a receipt goes: a file, or standard output. */
export interface Destination {
  readonly out?: string;
  readonly json?: boolean;
}

/** A receipt that was issued. */
export interface Issued {
  readonly text: string;
  readonly receiptId: string | null;
}

/** An issued receipt, with the texts that are printed when it is written to a file. */
interface Handing extends Issued {
  /** Returns the command that checks the receipt in this file. */
  readonly check: (file: string) => string;
  /** Further members of what `--json` prints when there is a file. */
  readonly also?: JsonObject;
}

/** Prints a receipt, or writes it to `--out`. If that fails, it is printed, because it was issued all the same. */
export function writeReceiptResult(
  { text, receiptId, check, also }: Handing,
  { out, json }: Destination,
): void {
  if (out !== undefined) {
    keep(out, text);
    if (json) printJson({ file: out, receipt_id: receiptId, bytes: utf8(text).length, ...also });
    else remark(`Wrote ${receiptId} to ${out}. Check it with: ${check(out)}`);
  } else if (json) printJson(JSON.parse(text));
  else print(text);
}

/** Prints how to get the anchor of a receipt that was written to a file. */
export function printAnchorHint({ out, json, anchor }: Destination & { readonly anchor?: boolean }): void {
  if (anchor !== true || out === undefined || json) return;
  remark(`Its hash is in the log. Fetch the anchor with: tally anchor get ${out} --wait --out <file>`);
}

/** The id of the receipt that a service returned, whose signature must be good. @throws unavailable */
export async function checkedReceipt(body: JsonValue, url: string): Promise<string | null> {
  const { integrity, receipt_id, checks } = await verify(body, { now: Date.now() });
  if (integrity) return receipt_id;
  const fault = checks.find(({ ok }) => ok === false);
  throw new TallyError(
    'unavailable',
    `${url} answered with a receipt that is not valid. ${fault?.detail ?? ''}`,
  );
}

function keep(path: string, text: string): void {
  try {
    writeOut(path, `${text}\n`);
  } catch (error) {
    print(text);
    throw error;
  }
}
