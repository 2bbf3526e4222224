import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { canonicalBytes, type JsonObject, type JsonValue, TallyError, utf8 } from '@tallystick/core';
import { unreadable } from '../files.ts';
import { parseNamed } from '../input.ts';
import { type Line, readLines } from '../lines.ts';
import { UsageError } from '../output.ts';
import { csvFields } from './csv.ts';

/** An item of evidence as JSON bytes, which change with the next line, and the number of its line. */
export interface ItemLine {
  readonly number: number;
  readonly json: Uint8Array;
}

type Read = (line: Line) => Uint8Array | null;

const OPENING_BRACE = 0x7b;

/**
 * The items of an evidence file in order, in bounded memory. A file is either NDJSON, of leaves
 * `{"unit","receipt_sha256"}` or of `{"unit","receipt"}` with whole receipts, or CSV with a header that has the
 * columns `unit` and one of `receipt_sha256` and `receipt`: a receipt is given as JSON or as the path of a file,
 * relative to the CSV's folder. A row without one is a unit without evidence. Nothing is judged here, neither a receipt nor
 * whether the items fit a bill.
 * @param onRead called with the number of bytes that were read since the last call
 * @throws UsageError when the file cannot be read; json_*, invalid_field, body_too_large, all with the file and line in
 * the message
 */
export function* readEvidence(path: string, onRead?: (bytes: number) => void): Generator<ItemLine> {
  let read: Read | undefined;
  for (const line of readLines(path, onRead)) {
    try {
      if (read === undefined) {
        read = line.bytes[0] === OPENING_BRACE ? itemOfJson : csvReader(textOf(line), dirname(path));
        if (read !== itemOfJson) continue;
      }
      const json = read(line);
      if (json !== null) yield { number: line.number, json };
    } catch (error) {
      throw atLine(error, path, line.number);
    }
  }
}

/** The number of the line that holds the item of an index, counted from 0; null if the file can't be read again. */
export function lineOfItem(path: string, index: number): number | null {
  let rest = index;
  for (const { number } of readEvidence(path)) {
    if (rest === 0) return number;
    rest -= 1;
  }
  return null;
}

/** The same error, with file and line at the start of its message. */
export function atLine(error: unknown, path: string, number: number): unknown {
  const at = `${path}, line ${number}`;
  if (error instanceof UsageError) return new UsageError(`${at}: ${error.message}`, { cause: error });
  if (!(error instanceof TallyError)) return error;
  return new TallyError(error.code, `${at}: ${error.message}`, { field: `line ${number}`, cause: error });
}

function itemOfJson({ bytes }: Line): Uint8Array {
  return bytes;
}

function csvReader(header: string, folder: string): Read {
  const names = csvFields(header.replace(/^\uFEFF/, ''))?.map((name) => name.trim()) ?? [];
  const hashed = names.includes('receipt_sha256');
  const [unitAt, valueAt] = [names.indexOf('unit'), names.indexOf(hashed ? 'receipt_sha256' : 'receipt')];
  if (unitAt < 0 || valueAt < 0 || (hashed && names.includes('receipt'))) {
    throw new TallyError(
      'invalid_field',
      'This is neither NDJSON nor the header of a CSV file. The header names unit, and either receipt_sha256 or receipt.',
    );
  }
  return (line) => {
    const fields = csvFields(textOf(line));
    if (fields?.length !== names.length) {
      const found = fields === null ? 'a misplaced quote' : `${fields.length} fields`;
      throw new TallyError('invalid_field', `The line has ${found}; the header has ${names.length} fields.`);
    }
    const value = fields[valueAt]?.trim() ?? '';
    if (value === '') return null;
    const unit = unitOf(fields[unitAt] ?? '');
    return item(hashed ? { unit, receipt_sha256: value } : { unit, receipt: receiptIn(value, folder) });
  };
}

function textOf({ bytes }: Line): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new TallyError('json_not_utf8', 'The line is not UTF-8 text.', { cause });
  }
}

function unitOf(text: string): number {
  const digits = text.trim();
  if (/^\d{1,15}$/.test(digits)) return Number(digits);
  throw new TallyError('invalid_field', `“${digits}” is not the number of a unit.`);
}

function receiptIn(value: string, folder: string): JsonValue {
  if (value.startsWith('{')) return parseNamed(utf8(value), 'The receipt');
  try {
    return parseNamed(readFileSync(resolve(folder, value)), value);
  } catch (error) {
    throw error instanceof TallyError ? error : unreadable(value, error);
  }
}

function item(members: JsonObject): Uint8Array {
  return canonicalBytes(members);
}
