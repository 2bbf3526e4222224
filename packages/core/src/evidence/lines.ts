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

/** Groups of `size` items, in their order; the last group may be smaller. */
export function* groupsOf<T>(items: Iterable<T>, size: number): Generator<readonly T[], void, undefined> {
  let group: T[] = [];
  for (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** Parses the bytes of a file as a JSON object. @throws EvidenceFault with the reason given */
export function readObject(bytes: Uint8Array, path: string, reason: EvidenceReason): JsonObject {
  try {
    const value = parseJson(bytes);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    throw new EvidenceFault(reason, `${path}: ${error.message}`, path);
  }
  throw new EvidenceFault(reason, `${path} must hold JSON objects only.`, path);
}
