import { looksLikeSign1 } from '../cose/sign1.ts';
import { toBase64 } from '../encoding/base64.ts';
import { utf8 } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import { parseLine } from '../json/lines.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { orNull } from '../or-null.ts';
import { isObject } from '../receipts/shape.ts';
import type { ForeignDocument } from './family.ts';

/** Largest file in bytes, and the most documents in one: more are not read. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_DOCUMENTS = 100_000;

/** How the data URL of a COSE message begins. */
export const COSE_URL = 'data:application/cose;base64,';

/** The documents of a file, and what is wrong with it as a list; null if nothing is. */
export interface Documents {
  readonly documents: readonly ForeignDocument[];
  readonly fault: string | null;
}

/** Reads a JSON object, a list of them, JSON Lines, a COSE message, or else one text. Returns null for what is none of these. */
export function readDocuments(file: Uint8Array | string): Documents | null {
  if (file.length > MAX_BYTES) return null;
  if (typeof file !== 'string' && looksLikeSign1(file))
    return { documents: [`${COSE_URL}${toBase64(file)}`], fault: null };
  const text = typeof file === 'string' ? file.replace(/^\ufeff/, '') : decoded(file);
  if (text === null) return null;
  const whole = orNull(() => parseJson(utf8(text)));
  if (whole !== null) return ofList(Array.isArray(whole) ? whole : [whole]);
  // White space is that of JSON (RFC 8259, section 2): what else a language calls so differs from one to the next.
  const lines = text.split('\n').filter((line) => /[^ \t\r]/.test(line));
  if (lines.length === 0) return null;
  return lines[0]?.startsWith('{') && lines.length > 1 ? ofLines(lines) : { documents: [text], fault: null };
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function ofList(values: readonly JsonValue[]): Documents | null {
  const documents: JsonObject[] = [];
  for (const value of values.slice(0, MAX_DOCUMENTS)) {
    if (!isObject(value)) {
      const fault = `Item ${documents.length + 1} is not a JSON object.`;
      return documents.length === 0 ? null : { documents, fault };
    }
    documents.push(value);
  }
  if (documents.length === 0) return null;
  return {
    documents,
    fault: values.length > MAX_DOCUMENTS ? `It holds more than ${MAX_DOCUMENTS} items.` : null,
  };
}

function ofLines(lines: readonly string[]): Documents | null {
  const values: JsonValue[] = [];
  for (const [index, line] of lines.entries()) {
    if (index === MAX_DOCUMENTS) break;
    try {
      values.push(parseLine(utf8(line), `Line ${index + 1}`));
    } catch (error) {
      if (!(error instanceof TallyError)) throw error;
      const read = ofList(values);
      return read === null ? null : { ...read, fault: read.fault ?? error.message };
    }
  }
  return ofList(lines.length > MAX_DOCUMENTS ? [...values, null] : values);
}
