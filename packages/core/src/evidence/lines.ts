import { TallyError } from '../errors.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonObject } from '../json/types.ts';
import { isObject } from '../receipts/shape.ts';
import { EvidenceFault, type EvidenceReason } from './fault.ts';

/** The lines of a file, without their line feeds. */
export function* linesOf(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    const stop = end < 0 ? bytes.length : end;
    yield bytes.subarray(at, stop);
    at = stop + 1;
  }
}

/** The object that bytes of a file are. @throws EvidenceFault with the reason given */
export function readObject(bytes: Uint8Array, path: string, reason: EvidenceReason): JsonObject {
  try {
    const value = parseJson(bytes);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    throw new EvidenceFault(reason, `${path}: ${error.message}`, path);
  }
  throw new EvidenceFault(reason, `${path} holds something else than objects.`, path);
}
