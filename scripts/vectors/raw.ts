import { canonicalize, type JsonObject, type JsonValue, utf8 } from '../../packages/core/src/index.ts';
import { casesOf, NOW, type ReceiptCase } from './cases.ts';
import { minted } from './envelope-base.ts';
import { signers } from './keys.ts';
import { emitted } from './profile-base.ts';
import { signIssue } from './sign.ts';

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** Cases of receipts as bytes: changes of white space, order and escapes, and bytes that are refused. */
export async function rawCases(): Promise<ReceiptCase[]> {
  return [...(await sameContents()), ...(await refusedBytes()), ...notReceipts()];
}

const withBytes = ({ document: _document, ...rest }: ReceiptCase, text: string): ReceiptCase => ({
  ...rest,
  raw_base64: base64(utf8(text)),
});

/** Cases of changes that leave the signed value, the JCS of the parsed document, as it is. */
async function sameContents(): Promise<ReceiptCase[]> {
  const envelope = await minted();
  const nano = await emitted('nano');
  const units = { ...envelope, x_number: 25 };
  const issued = await signIssue({ ...(await issueBody()), units: 25 }, signers.service);
  const text = canonicalize(envelope);
  const { accepts } = casesOf('envelope');
  const profile = casesOf('profile');
  const issue = casesOf('issue');
  return [
    withBytes(accepts('as emitted', 'JCS text.', null), text),
    withBytes(accepts('indented', 'White space is not signed.', null), JSON.stringify(envelope, null, 2)),
    withBytes(accepts('white space around', 'Also tabs, CR and LF.', null), `\r\n\t ${text} \n`),
    withBytes(accepts('members reversed', 'Order is not signed.', null), JSON.stringify(reversed(envelope))),
    withBytes(accepts('escaped text', 'q is \\u0071.', null), text.replace('question', '\\u0071uestion')),
    withBytes(
      profile.accepts('nano, members reversed', 'Order is not signed.', null),
      JSON.stringify(reversed(nano)),
    ),
    withBytes(
      issue.accepts('number as 25.0', 'The same double: 25.', null),
      canonicalize(issued).replace('"units":25', '"units":25.0'),
    ),
    withBytes(
      issue.accepts('number as 2.5e1', 'The same double: 25.', null),
      canonicalize(issued).replace('"units":25', '"units":2.5e1'),
    ),
    withBytes(
      casesOf('envelope').refuses('number added', 'A member that was not signed.', null, ['signature']),
      canonicalize(units),
    ),
  ];
}

async function issueBody(): Promise<JsonObject> {
  const { issuer_did, issuer_pubkey, issuer_verified, key_id, issued_at } = await minted();
  const facts = {
    symbol: 'X',
    amount_usd: 1,
    recipient: 'r',
    type: 'svc-issue-v1',
    receipt_id: 'r_issue_1768474800_0123456789ab',
  };
  return { ...facts, issuer_did, issuer_pubkey, issuer_verified, key_id, issued_at } as JsonObject;
}

function reversed(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([name, member]) => [name, reversed(member)]));
}

/** Cases of receipts that two readers could read differently. */
async function refusedBytes(): Promise<ReceiptCase[]> {
  const text = canonicalize(await minted());
  const purpose = '"purpose":"question answering"';
  const refused = (name: string, comment: string, bytes: Uint8Array, code: string): ReceiptCase => ({
    name,
    comment,
    raw_base64: base64(bytes),
    trust: 'known',
    now: NOW,
    expected: { code },
  });
  const replaced = (by: string): Uint8Array => utf8(text.replace(purpose, by));
  const marked = Uint8Array.from([0xef, 0xbb, 0xbf, ...utf8(text)]);
  const latin1 = utf8(text.replace('question', 'questi?n')).map((byte) => (byte === 0x3f ? 0xf6 : byte));
  return [
    refused(
      'member twice',
      'The first is what was signed.',
      replaced(`${purpose},"purpose":"another"`),
      'json_duplicate_member',
    ),
    refused(
      'member twice, once escaped',
      'purpose and \\u0070urpose are one name.',
      replaced(`${purpose},"\\u0070urpose":"another"`),
      'json_duplicate_member',
    ),
    refused(
      'lone surrogate',
      'No UTF-8 can carry it.',
      replaced('"purpose":"\\ud800"'),
      'json_lone_surrogate',
    ),
    refused('noncharacter', 'I-JSON forbids it.', replaced('"purpose":"\\uffff"'), 'json_noncharacter'),
    refused(
      'integer past 2^53-1',
      'Readers round it differently.',
      replaced(`${purpose},"x":9007199254740993`),
      'json_integer_range',
    ),
    refused('byte order mark', 'Not part of JSON.', marked, 'json_bom'),
    refused('Latin-1', 'Not UTF-8.', latin1, 'json_not_utf8'),
    refused('cut off', 'Not JSON.', utf8(text.slice(0, -1)), 'json_syntax'),
  ];
}

/** Cases of JSON that no family recognises. */
function notReceipts(): ReceiptCase[] {
  const { refuses } = casesOf(null);
  const list: readonly (readonly [string, string])[] = [
    ['empty object', '{}'],
    ['null', 'null'],
    ['array of receipts', '[{"v":"svc-receipt-v1"}]'],
    ['text', '"svc-receipt-v1"'],
    ['envelope of another version', '{"v":"svc-receipt-v2"}'],
    ['trust bundle', '{"type":"svc-trust-v1"}'],
    ['metering of another type', '{"signed_body":{"receipt_type":"sls.other"}}'],
  ];
  return list.map(([name, text]) =>
    withBytes(
      refuses(name, 'Of no known family.', null, ['format'], { trusted: false, nulls: ['signature'] }),
      text,
    ),
  );
}
