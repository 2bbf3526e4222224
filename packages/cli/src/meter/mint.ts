import { rmSync } from 'node:fs';
import { parse } from 'node:path';
import { describeCounts, type EvidenceClass, TallyError } from '@tallystick/core';
import { requireKey } from '../api-key.ts';
import { readKeyFile } from '../key-file.ts';
import { remark, UsageError } from '../output.ts';
import { type Destination, printAnchorHint, writeReceiptResult } from '../receipt-out.ts';
import { type BillOptions, billFacts, billOf } from './bill.ts';
import { secretsFor, writeSaltFile } from './salt-file.ts';
import { signBill } from './sign.ts';
import { submitBill } from './submit.ts';

export interface MintOptions extends BillOptions, Destination {
  readonly evidence: string;
  /** Least class of evidence that is accepted; any when absent. */
  readonly evidencePolicy?: EvidenceClass;
  readonly saltFile?: string;
  /** Key file to mint with locally; without it the service mints. */
  readonly key?: string;
  readonly url: string;
  readonly idempotencyKey?: string;
  readonly anchor?: boolean;
  readonly apiKey?: string;
}

/** `tally meter mint`. The salt is on disk before any receipt exists that needs it. */
export async function mint(options: MintOptions): Promise<void> {
  if (options.anchor) requireKey(options.apiKey);
  const saltFile = saltFileOf(options);
  const { secrets, isNew } = await secretsFor(saltFile, billFacts(options));
  const bill = billOf(options, secrets);
  const { key } = options;
  const signer = key === undefined ? null : await readKeyFile(key);
  if (isNew) writeSaltFile(saltFile, secrets);
  const issued = await (signer === null
    ? submitBill({ ...options, bill, path: options.evidence, policy: options.evidencePolicy })
    : signBill(bill, options.evidence, { signer, policy: options.evidencePolicy })
  ).catch((error: unknown) => {
    if (isNew && !mayBeIssued(error)) rmSync(saltFile, { force: true });
    throw error;
  });
  const check = (file: string): string => `tally meter verify ${file} --evidence ${options.evidence}`;
  const { counts } = issued;
  const also = { salt_file: saltFile, ...(counts !== null && { evidence: counts }) };
  writeReceiptResult({ ...issued, check, also }, options);
  if (counts !== null && options.json !== true) remark(`Evidence: ${describeCounts(counts)}.`);
  printAnchorHint(options);
  if (isNew) remark(`The salt is in ${saltFile}. Keep it: without the salt no commitment can be opened.`);
}

/** Returns whether the service may have signed: if a connection broke, nobody here knows, and the salt must be kept. */
function mayBeIssued(error: unknown): boolean {
  return !(
    error instanceof UsageError ||
    (error instanceof TallyError && error.code !== 'unavailable' && error.code !== 'internal')
  );
}

function saltFileOf({ saltFile, out }: MintOptions): string {
  if (saltFile !== undefined) return saltFile;
  if (out === undefined) {
    throw new UsageError(
      'Say where to keep the salt with --salt-file, or give --out to have it beside the receipt.',
    );
  }
  const { dir, name } = parse(out);
  return dir === '' ? `${name}.salt.json` : `${dir}/${name}.salt.json`;
}
