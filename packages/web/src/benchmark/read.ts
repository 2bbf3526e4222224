import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  TallyError,
  type Verification,
  verifyParsed,
} from '@tallystick/core';
import { attempt } from '../attempt.ts';
import type { State } from '../dom.ts';
import { fetchBytes, type RequestFailure } from '../fetch-answer.ts';
import { benchmarkProse as prose } from '../prose.ts';
import type { TrustInUse } from '../trust.ts';
import { formatText } from '../words.ts';

/** A document of the service, with the result of verifying it. */
export interface Reading {
  readonly path: string;
  /** `pass`: signed by a trusted issuer; `unsure`: signed; `fail`: not what was signed; `unknown`: not read. */
  readonly state: State;
  readonly detail: string;
  /** The document; null unless its signature is valid. */
  readonly document: JsonObject | null;
  /** DID of the signer, if known. */
  readonly signer: string | null;
}

/** Version of the documents that this page can draw. */
const VERSION = 1;

/** Fetches a node's document from the service that served this page, and verifies it. Never throws. */
export async function readNode(node: string, trust: TrustInUse, now: number): Promise<Reading> {
  const path = node === 'benchmark' ? '/v1/compute/benchmark' : (`/v1/compute/benchmark/${node}` as const);
  const answer = await fetchBytes(path);
  if (answer instanceof Uint8Array) return { path, ...(await evaluate(node, answer, trust, now)) };
  return { path, ...refused('unknown', wordsOf(answer)) };
}

type Evaluation = Omit<Reading, 'path'>;

const refused = (state: State, detail: string): Evaluation => ({
  state,
  detail,
  document: null,
  signer: null,
});

async function evaluate(
  node: string,
  bytes: Uint8Array,
  trust: TrustInUse,
  now: number,
): Promise<Evaluation> {
  const document = attempt(() => parseJson(bytes));
  if (document instanceof TallyError) return refused('fail', document.message);
  const verdict = await verifyParsed(document, { now, trust: trust.issuers });
  if (!isObject(document) || verdict.family !== 'benchmark' || !verdict.valid) {
    return refused('fail', faultOf(verdict));
  }
  const { text } = prose;
  if (verdict.profile !== node) return refused('fail', formatText(text.otherNode, verdict.profile));
  if (document.version !== VERSION)
    return refused('unknown', formatText(text.otherVersion, document.version));
  const { trusted, did: signer } = verdict.issuer;
  const detail = formatText(
    trusted ? text.signedBy : text.signedByUnknown,
    dayOf(document.issued_at),
    signer,
  );
  return { state: trusted ? 'pass' : 'unsure', detail, document, signer };
}

/** The day of a UTC time: `2026-11-21`. */
const dayOf = (time: JsonValue | undefined): string => (typeof time === 'string' ? time.slice(0, 10) : '');

/** Returns the detail of the first check that failed. */
function faultOf({ family, checks }: Verification): string {
  if (family !== 'benchmark') return prose.text.noBenchmark;
  return checks.find(({ ok }) => ok === false)?.detail ?? '';
}

/** Why the service gave no document, in its own words if it says so. */
function wordsOf({ status, detail, retryAfter }: RequestFailure): string {
  const { text } = prose;
  if (status === null) return text.unreachable;
  if (status === 404) return text.notFound;
  const later = retryAfter === null ? null : formatText(text.later, retryAfter);
  return [formatText(text.answered, status), detail, later].filter((part) => part !== null).join(' ');
}
