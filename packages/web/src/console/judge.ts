import {
  anchoredHash,
  type CallCheck,
  callVerdict,
  checkTrustBundle,
  fromHex,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  readCall,
  type SessionVerification,
  type Trust,
  toBase64url,
  trustOf,
  utf8,
  type Verification,
  verifyParsed,
  verifySession,
} from '@tallystick/core';

/**
 * Verifies a receipt by a service's trust bundle.
 * @param receipt its JSON text, byte for byte
 * @param bundle the JSON text of the trust bundle
 * @param now Unix milliseconds
 * @param anchor the anchored result; null where there is none
 * @throws json_*, trust_*
 */
export async function judge(
  receipt: string,
  bundle: string,
  now: number,
  anchor: object | null = null,
): Promise<Verification> {
  const trust = await trustIn(bundle, now);
  // Verified as it was received, in JSON of its own.
  const given = anchor === null ? null : parseJson(utf8(JSON.stringify(anchor)));
  return verifyParsed(parseJson(utf8(receipt)), { now, trust, anchor: given });
}

/** A receipt's members, and the hash under which the log has it, in base64url. @throws json_*, not_a_receipt */
export function readReceipt(receipt: string): { readonly members: JsonObject; readonly hash: string } {
  const members = parseJson(utf8(receipt));
  return { members: isObject(members) ? members : {}, hash: toBase64url(fromHex(anchoredHash(members))) };
}

/** The verdict with one more check, which it depends on. */
export function withCheck(verdict: Verification, check: CallCheck): Verification {
  const call = { receipt: null, protocol: null, receiptChecks: [], callChecks: [check] };
  return callVerdict(call, verdict);
}

/** Whether a receipt covers a request or an answer. @param receipt its JSON text */
export function checkPart(
  part: 'request' | 'response',
  body: Uint8Array | object,
  receipt: string,
): CallCheck | undefined {
  return readCall({ [part]: body, receipt }).callChecks.find(({ name }) => name === part);
}

/**
 * Verifies the signed record of a session by a service's trust bundle.
 * @param record JSON Lines, as the service gave it
 * @param referenced the JSON texts of receipts that it may refer to
 */
export async function judgeSession(
  record: string,
  bundle: string,
  now: number,
  referenced: readonly string[],
): Promise<SessionVerification> {
  const given: JsonValue[] = referenced.map((receipt) => parseJson(utf8(receipt)));
  return verifySession(record, { now, trust: await trustIn(bundle, now), referenced: given });
}

async function trustIn(bundle: string, now: number): Promise<Trust> {
  const checked = await checkTrustBundle(parseJson(utf8(bundle)), { now, pin: undefined });
  return trustOf(checked.bundle.issuers, [checked.bundle]);
}
