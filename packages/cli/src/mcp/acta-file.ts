import {
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import {
  canonicalBytes,
  isObject,
  type JsonObject,
  parseJson,
  type Signer,
  sha256Hex,
  utf8,
} from '@tallystick/core';
import { signActa } from '@tallystick/core/foreign';
import type { Begun, Session } from '@tallystick/sdk';
import type { PolicyOptions } from './policy.ts';

/** Ends the name of a file with Acta receipts beside a session's. */
const ACTA_SUFFIX = '.acta.jsonl';

type Recorder = Pick<Session, 'begin' | 'end'>;

/**
 * Records in a session, and signs an Acta receipt for each call in a file beside it. The session's receipt comes first, and its
 * hash is in the Acta receipt; a call has both before its result goes on.
 * @param sessionFile path of the session's file
 */
export function withActa(
  session: Recorder,
  sessionFile: string,
  { signer, policy }: { readonly signer: Signer; readonly policy: PolicyOptions },
): Recorder {
  const file = new ActaFile(sessionFile.replace(/(?:\.jsonl)?$/, ACTA_SUFFIX), signer);
  const { allow = [], deny = [], ask = [] } = policy;
  const rules: JsonObject = { allow: [...allow], ask: [...ask], deny: [...deny] };
  const hasRules = allow.length + deny.length + ask.length > 0;
  const policyId = hasRules ? `sha256:${sha256Hex(canonicalBytes(rules))}` : null;
  const tools = new WeakMap<Begun, string>();
  return {
    async begin(call) {
      const begun = await session.begin(call);
      tools.set(begun, call.tool);
      return begun;
    },
    async end(begun, ended) {
      const receipt = await session.end(begun, ended);
      const document = parseJson(utf8(receipt));
      const receiptId = isObject(document) ? (document.receipt_id ?? null) : null;
      await file.add({
        decision: ended.outcome === 'denied' ? 'deny' : 'allow',
        tool: tools.get(begun) ?? '',
        policyId,
        context: { receipt_id: receiptId, receipt_sha256: `sha256:${sha256Hex(utf8(receipt))}` },
      });
      return receipt;
    },
  };
}

/** A chain of Acta receipts, a line each. It is gone on with where it ended. A new one is made with its first receipt. */
class ActaFile {
  readonly #path: string;
  readonly #signer: Signer;
  #file: number | null;
  #newest: JsonObject | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, signer: Signer) {
    this.#path = path;
    this.#signer = signer;
    this.#file = existsSync(path) ? this.#open() : null;
  }

  #open(): number {
    const file = openSync(this.#path, 'a+', 0o600);
    const text = readFileSync(file);
    // A line that was cut before its end is no receipt.
    const end = text.lastIndexOf(0x0a) + 1;
    if (end < fstatSync(file).size) ftruncateSync(file, end);
    const newest = text.subarray(0, end).toString().trimEnd().split('\n').at(-1) ?? '';
    this.#newest = newest === '' ? null : (parseJson(utf8(newest)) as JsonObject);
    return file;
  }

  add(decision: Parameters<typeof signActa>[0]): Promise<void> {
    const added = this.#addAfter(this.#last, decision);
    this.#last = added.catch(() => undefined);
    return added;
  }

  async #addAfter(last: Promise<unknown>, decision: Parameters<typeof signActa>[0]): Promise<void> {
    await last;
    this.#file ??= this.#open();
    const file = this.#file;
    const receipt = await signActa(decision, this.#newest, { signer: this.#signer, now: Date.now() });
    const { size } = fstatSync(file);
    try {
      writeFileSync(file, `${receipt}\n`);
      fdatasyncSync(file);
    } catch (error) {
      // The next receipt could not be read after a part of this one, and continues the one before.
      ftruncateSync(file, size);
      throw error;
    }
    this.#newest = parseJson(utf8(receipt)) as JsonObject;
  }
}
