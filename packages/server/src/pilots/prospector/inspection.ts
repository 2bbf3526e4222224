import { setTimeout as sleep } from 'node:timers/promises';
import { type JsonValue, parseJson } from '@tallystick/core';
import { retryAfter } from '@tallystick/inference';
import type { GuardedFetch, GuardedResponse } from '@tallystick/kit';
import { type FetchFault, GuardedFetchError } from '@tallystick/kit';
import { type Evidence, excerptOf, shown } from './evidence.ts';
import type { Area, FindingCode } from './findings.ts';
import type { SurfacePath } from './surface.ts';

/** What was answered, with the JSON in it. */
export interface Answer extends GuardedResponse {
  /** Undefined where the body is no I-JSON. */
  readonly json: JsonValue | undefined;
  readonly evidence: Evidence;
}

interface Finding {
  readonly code: FindingCode;
  /** What is wrong in this case. */
  readonly detail: string;
  readonly evidence: readonly Evidence[];
}

/** What a request carries besides its path. */
interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  /** A text as it is, anything else as JSON. */
  readonly body?: JsonValue;
}

/** A place, or the end of a session there. */
type InspectionRequest = SurfacePath | { readonly method: 'DELETE'; readonly path: string };

/** One readiness check that is running: it sends requests and collects findings. */
export interface Inspection {
  readonly origin: string;
  /** Unix milliseconds. */
  readonly now: number;
  /** All answers so far. */
  readonly answers: readonly Answer[];
  readonly findings: readonly Finding[];
  /** What was found to be good, by area. */
  readonly notes: readonly { readonly area: Area; readonly text: string }[];
  /** Whether a rate limit prevented an answer in time: a 429 is retried, and is no finding. */
  readonly limited: () => boolean;
  /** Sends a request. If no answer comes, that becomes a finding of `transport`, and null is returned. */
  readonly ask: (place: InspectionRequest, asking?: Asking) => Promise<Answer | null>;
  /** Sends a request like `ask`. If no answer comes, the reason is returned for the caller to assess. */
  readonly attempt: (place: SurfacePath, asking?: Asking) => Promise<Answer | GuardedFetchError | null>;
  /** Adds a finding, unless it exists already. */
  readonly found: (code: FindingCode, detail: string, ...answers: readonly Answer[]) => void;
  readonly well: (area: Area, text: string) => void;
}

/** Most bytes of a finding's detail, which may quote a server's text of any length. */
const MAX_DETAIL_BYTES = 500;
/** The most times that one request is sent while the answer stays 429. */
const MAX_TRIES = 4;
/** How long to wait after a 429 without `Retry-After`, in milliseconds. */
const RATE_LIMITED_MS = 1_000;
/** Number of requests without an answer after which no more are sent. */
const MAX_FAILURES = 3;

const CODE_OF: Readonly<Record<Exclude<FetchFault, 'aborted'>, FindingCode>> = {
  url: 'address_refused',
  address: 'address_refused',
  dns: 'unreachable',
  connect: 'unreachable',
  tls: 'unreachable',
  cut: 'unreachable',
  redirect: 'redirects_away',
  headers_too_large: 'answer_too_large',
  body_too_large: 'answer_too_large',
  encoded: 'answer_encoded',
  slow: 'answer_too_slow',
  timeout: 'answer_too_slow',
};

export function beginInspection({
  fetch,
  signal,
  origin,
  now,
  endsAt,
}: {
  readonly fetch: GuardedFetch;
  /** Ends the check when it aborts: from then on nothing is sent. */
  readonly signal: AbortSignal;
  readonly origin: string;
  readonly now: number;
  /** When the time for the whole check is over, in milliseconds of `performance.now()`. */
  readonly endsAt: number;
}): Inspection {
  const answers: Answer[] = [];
  const findings: Finding[] = [];
  const notes: { area: Area; text: string }[] = [];
  let failures = 0;
  let limited = false;

  const write = ({ code, detail, evidence }: Finding): void => {
    if (findings.some((other) => other.code === code)) return;
    findings.push({ code, detail: shown(detail, MAX_DETAIL_BYTES), evidence });
  };
  const send = async (
    { method, path }: { readonly method: 'GET' | 'POST' | 'DELETE'; readonly path: string },
    { headers = {}, body }: Asking,
  ): Promise<Answer> => {
    const url = origin + path;
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await fetch(url, {
      method,
      headers: { accept: 'application/json', 'user-agent': USER_AGENT, ...type, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal,
      anyCertificate: true,
    });
    const { status } = response;
    const evidence = {
      method,
      url: shown(response.url, MAX_DETAIL_BYTES),
      status,
      excerpt: excerptOf(response.body),
    };
    return { ...response, json: jsonIn(response.body), evidence };
  };
  /** Null where the origin's rate limit leaves no time for an answer. */
  const sendPatiently = async (place: InspectionRequest, asking: Asking): Promise<Answer | null> => {
    for (let tries = 1; ; tries += 1) {
      const answer = await send(place, asking);
      if (answer.status !== 429) {
        answers.push(answer);
        return answer;
      }
      const waitMs = retryAfter((name) => answer.headers.get(name), Date.now()) ?? RATE_LIMITED_MS;
      if (tries === MAX_TRIES || performance.now() + waitMs >= endsAt) {
        limited = true;
        return null;
      }
      // The next request notices that the time is over.
      await sleep(waitMs, undefined, { signal }).catch(() => {});
    }
  };

  return {
    origin,
    now,
    answers,
    findings,
    notes,
    limited: () => limited,
    async ask(place, asking = {}) {
      if (failures >= MAX_FAILURES) return null;
      try {
        return await sendPatiently(place, asking);
      } catch (error) {
        if (!(error instanceof GuardedFetchError)) throw error;
        failures += 1;
        if (error.fault === 'aborted') return null;
        const evidence = { method: place.method, url: error.url, status: null, excerpt: '' };
        write({ code: CODE_OF[error.fault], detail: error.message, evidence: [evidence] });
        return null;
      }
    },
    async attempt(place, asking = {}) {
      if (failures >= MAX_FAILURES) return null;
      try {
        return await sendPatiently(place, asking);
      } catch (error) {
        if (error instanceof GuardedFetchError) return error;
        throw error;
      }
    },
    found: (code, detail, ...seen) => write({ code, detail, evidence: seen.map(({ evidence }) => evidence) }),
    well: (area, text) => void notes.push({ area, text: shown(text, MAX_DETAIL_BYTES) }),
  };
}

const USER_AGENT = 'tallystick-prospector/1';

function jsonIn(body: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}

/** Whether the answer is one that a document would have. */
export function isDocument(answer: Answer): boolean {
  return answer.status === 200 && typeof answer.json === 'object' && answer.json !== null;
}
