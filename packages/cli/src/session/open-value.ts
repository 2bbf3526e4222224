import {
  checkOpenedValue,
  copyJson,
  openSessionValue,
  parseJson,
  type SaltedPart,
  type SessionValue,
  TallyError,
  verifySession,
} from '@tallystick/core';
import { readSessionSalt } from '@tallystick/sdk/session-file';
import { writeOut } from '../files.ts';
import { nameOf, readBytes } from '../input.ts';
import { asUsage, printJson, remark, UsageError } from '../output.ts';

export interface OpenValueOptions {
  readonly value: string;
  readonly out?: string;
}

/** Makes the document that opens one value of a session. @throws UsageError if it is not the value that was recorded */
export async function openValue(
  file: string,
  seq: string,
  part: SaltedPart,
  { value: path, out }: OpenValueOptions,
): Promise<void> {
  const verdict = await verifySession(await readBytes(file), { now: Date.now() });
  const entry = verdict.entries.find((one) => String(one.seq) === seq);
  if (entry?.call.kind !== 'tool')
    throw new UsageError(`${file} has no receipt of a tool with number ${seq}.`);
  const bytes = await readBytes(path);
  const opening = openSessionValue(
    saltOf(file),
    { session_id: entry.call.session.id, seq, part },
    entry.call.raw?.includes(part) ? { raw: bytes } : jsonIn(bytes, path),
  );
  if (checkOpenedValue(opening, verdict) !== 'valid')
    throw new UsageError(`${nameOf(path)} is not the value that number ${seq} has as its ${part}.`);
  const document = copyJson(opening);
  if (out === undefined) return printJson(document);
  writeOut(out, `${JSON.stringify(document, null, 2)}\n`);
  remark(
    `Wrote ${out}. It opens this value alone. Check it with: tally session verify ${file} --opening ${out}`,
  );
}

function saltOf(file: string): Uint8Array {
  try {
    return readSessionSalt(file);
  } catch (error) {
    throw asUsage(error);
  }
}

function jsonIn(bytes: Uint8Array, path: string): SessionValue {
  try {
    return { json: parseJson(bytes) };
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    throw new UsageError(`${nameOf(path)}: ${error.message}`, { code: error.code });
  }
}
