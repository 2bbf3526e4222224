import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  anchoredHash,
  canonicalBytes,
  isObject,
  type JsonValue,
  parseJson,
  TallyError,
  utf8,
} from '@tallystick/core';
import { unreadable } from '../files.ts';
import { parseNamed } from '../input.ts';
import { type Line, readLines } from '../lines.ts';
import { UsageError } from '../output.ts';
import { csvFields } from './csv.ts';

/** A leaf as JSON bytes, only lent like the line it was made of, and the number of that line. */
export interface LeafLine {
  readonly number: number;
  readonly json: Uint8Array;
}

type Read = (line: Line) => Uint8Array | null;

const OPENING_BRACE = 0x7b;
const RECEIPT_MEMBER = '"receipt"';

/**
 * The leaves of an evidence file in order, in bounded memory. A file is either NDJSON, of leaves
 * `{"unit","receipt_sha256"}` or of `{"unit","receipt"}` with whole receipts, or CSV with a header that has the
 * columns `unit` and one of `receipt_sha256` and `receipt`: a receipt is there as JSON or as the path of a file,
 * from the CSV's folder. A row without one is a unit without evidence. What a receipt is worth is not judged, nor
 * whether the leaves fit a bill.
 * @param onRead is told how many bytes of the file were read on
 * @throws UsageError when the file cannot be read; json_*, not_a_receipt, invalid_field, body_too_large, all with
 * the file and line in the message
 */
export function* readEvidence(path: string, onRead?: (bytes: number) => void): Generator<LeafLine> {
  let read: Read | undefined;
  for (const line of readLines(path, onRead)) {
    try {
      if (read === undefined) {
        read = line.bytes[0] === OPENING_BRACE ? leafOfJson : csvReader(textOf(line), dirname(path));
        if (read !== leafOfJson) continue;
      }
      const json = read(line);
      if (json !== null) yield { number: line.number, json };
    } catch (error) {
      throw atLine(error, path, line.number);
    }
  }
}

/** The same fault, its message led by file and line. */
export function atLine(error: unknown, path: string, number: number): unknown {
  const at = `${path}, line ${number}`;
  if (error instanceof UsageError) return new UsageError(`${at}: ${error.message}`, { cause: error });
  if (!(error instanceof TallyError)) return error;
  return new TallyError(error.code, `${at}: ${error.message}`, { field: `line ${number}`, cause: error });
}

function leafOfJson({ bytes }: Line): Uint8Array {
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(RECEIPT_MEMBER)) return bytes;
  const value = parseJson(bytes);
  if (!isObject(value) || value.receipt === undefined) return bytes;
  const { unit, receipt, ...others } = value;
  if (unit === undefined || Object.keys(others).length > 0)
    throw new TallyError(
      'invalid_field',
      'A line with a receipt has the members unit and receipt, and no other.',
    );
  return leaf(unit, anchoredHash(receipt));
}

function csvReader(header: string, folder: string): Read {
  const names = csvFields(header.replace(/^\uFEFF/, ''))?.map((name) => name.trim()) ?? [];
  const hashed = names.includes('receipt_sha256');
  const [unitAt, valueAt] = [names.indexOf('unit'), names.indexOf(hashed ? 'receipt_sha256' : 'receipt')];
  if (unitAt < 0 || valueAt < 0 || (hashed && names.includes('receipt'))) {
    throw new TallyError(
      'invalid_field',
      'This is neither NDJSON nor the header of a CSV. The header names unit, and either receipt_sha256 or receipt.',
    );
  }
  return (line) => {
    const fields = csvFields(textOf(line));
    if (fields?.length !== names.length) {
      const found = fields === null ? 'a quote that is out of place' : `${fields.length} fields`;
      throw new TallyError('invalid_field', `The line has ${found}; the header has ${names.length} fields.`);
    }
    const value = fields[valueAt]?.trim() ?? '';
    if (value === '') return null;
    return leaf(unitOf(fields[unitAt] ?? ''), hashed ? value : receiptHash(value, folder));
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

function receiptHash(value: string, folder: string): string {
  if (value.startsWith('{')) return anchoredHash(parseNamed(utf8(value), 'The receipt'));
  try {
    return anchoredHash(parseNamed(readFileSync(resolve(folder, value)), value));
  } catch (error) {
    if (!(error instanceof TallyError)) throw unreadable(value, error);
    throw error.code === 'not_a_receipt' ? named(error, value) : error;
  }
}

function named({ code, message }: TallyError, name: string): TallyError {
  return new TallyError(code, `${name}: ${message}`);
}

function leaf(unit: JsonValue, receiptSha256: string): Uint8Array {
  return canonicalBytes({ unit, receipt_sha256: receiptSha256 });
}
