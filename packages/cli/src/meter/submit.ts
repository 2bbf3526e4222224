import { statSync } from 'node:fs';
import {
  anchoredHash,
  CompactRange,
  canonicalize,
  type EvidenceClass,
  evidenceCountsIn,
  isObject,
  type JsonObject,
  type JsonValue,
  leafHash,
  parseJson,
  TallyError,
  toHex,
} from '@tallystick/core';
import { piecesUpload } from '@tallystick/sdk/transport';
import { checkedReceipt } from '../receipt-out.ts';
import { type Reply, serviceAt } from '../service.ts';
import { atLine, lineOfItem } from './evidence.ts';
import type { IssuedBill } from './issued-bill.ts';
import { watchedEvidence } from './progress.ts';
import { nodeSha256 } from './sha256.ts';

const PATH = '/v1/receipt/metering';
/** Approximate number of bytes per piece that is sent. */
const PIECE_BYTES = 65_536;
const CANONICAL_LEAF = /^\{"receipt_sha256":"[0-9a-f]{64}","unit":[1-9]\d{0,14}\}$/;

export interface Submission {
  readonly bill: JsonObject;
  /** Path of the evidence file. */
  readonly path: string;
  readonly policy?: EvidenceClass | undefined;
  readonly url: string;
  readonly idempotencyKey?: string | undefined;
  readonly anchor?: boolean | undefined;
  readonly apiKey?: string | undefined;
}

/**
 * Has a service mint a bill's receipt. The evidence is sent while it is read. Whole receipts are sent whole, and the
 * service verifies them. The answer must be a receipt of this bill and these leaves.
 * @throws what `readEvidence` does; the service's refusals, for a leaf with the line of the file; unavailable
 */
export async function submitBill(submission: Submission): Promise<IssuedBill> {
  const { bill, path, policy, url, idempotencyKey, anchor, apiKey } = submission;
  let tree = new CompactRange(undefined, nodeSha256);
  const header: JsonObject = {
    ...bill,
    ...(anchor && { anchor }),
    ...(policy !== undefined && { evidence_policy: policy }),
  };
  const body = piecesUpload({
    pieces: () => {
      tree = new CompactRange(undefined, nodeSha256);
      return pieces(header, path, tree);
    },
    // A pipe can be read only once.
    repeatable: statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
  });
  const service = serviceAt(url, { apiKey });
  const reply = await service.upload(PATH, body, { idempotencyKey }).catch((error: unknown) => {
    throw withFileLine(error, path);
  });
  const receiptId = await checkedReceipt(reply.json, url);
  requireSameBill(reply, bill, tree, url);
  return { text: reply.text, receiptId, counts: evidenceCountsIn(reply.headers) };
}

/** Yields the bill and the items as lines, in pieces, and adds the leaf of each item to the tree. */
function* pieces(
  bill: JsonObject,
  path: string,
  tree: CompactRange,
): Generator<Uint8Array<ArrayBuffer>, void> {
  let text = `${canonicalize(bill)}\n`;
  for (const { json, number } of watchedEvidence(path)) {
    const { line, leaf } = lineOf(json, path, number);
    tree.append(leafHash(Buffer.from(leaf, 'utf8'), nodeSha256));
    text += `${line}\n`;
    if (text.length < PIECE_BYTES) continue;
    yield Buffer.from(text, 'utf8');
    text = '';
  }
  yield Buffer.from(text, 'utf8');
}

/**
 * The line that is sent for an item, and the JCS of its leaf. An invalid item is sent as it is: the service reports its fault.
 * @throws json_* with file and line
 */
function lineOf(json: Uint8Array, path: string, number: number): { line: string; leaf: string } {
  const text = Buffer.from(json.buffer, json.byteOffset, json.length).toString('latin1');
  if (CANONICAL_LEAF.test(text)) return { line: text, leaf: text };
  try {
    const item = parseJson(json);
    const line = canonicalize(item);
    if (!isObject(item)) return { line, leaf: line };
    const { unit = null, receipt, receipt_sha256: givenHash = null } = item;
    const receipt_sha256 = receipt === undefined ? givenHash : hashOf(receipt);
    return { line, leaf: canonicalize({ unit, receipt_sha256 }) };
  } catch (error) {
    throw atLine(error, path, number);
  }
}

function hashOf(receipt: JsonValue): string | null {
  try {
    return anchoredHash(receipt);
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}

/** Replaces the line that a service names by the file's: the bill was the first line. Errors from here name it already. */
function withFileLine(error: unknown, path: string): unknown {
  if (!(error instanceof TallyError) || error.message.startsWith(`${path}, `)) return error;
  const { code, field, message } = error;
  const sent = /^line (\d+)/.exec(field ?? '');
  const number = sent === null ? null : lineOfItem(path, Number(sent[1]) - 2);
  if (sent === null || number === null) return error;
  const [name] = sent;
  const text = message.startsWith(name) ? `line ${number}${message.slice(name.length)}` : message;
  return new TallyError(code, `${path}, ${text}`, { field: `line ${number}`, cause: error });
}

function requireSameBill({ json: body }: Reply, bill: JsonObject, tree: CompactRange, url: string): void {
  const signed = isObject(body) && isObject(body.signed_body) ? body.signed_body : {};
  const { billed_unit_count, ...rest } = bill;
  const expected: JsonObject = {
    ...rest,
    metered: {
      billed_unit_count: billed_unit_count ?? null,
      evidence_backed_unit_count: tree.size,
      unbacked_unit_count: Number(billed_unit_count) - tree.size,
      receipt_set_digest: toHex(tree.root()),
    },
  };
  const other = Object.keys(expected).find((name) => !sameJson(signed[name], expected[name]));
  if (other === undefined) return;
  throw new TallyError('unavailable', `${url} answered with the receipt of another bill: ${other} differs.`);
}

function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return a !== undefined && b !== undefined && canonicalize(a) === canonicalize(b);
}
