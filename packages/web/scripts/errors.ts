import { type ErrorCode, errorTable } from '@tallystick/core';

const CODES = Object.keys(errorTable) as ErrorCode[];

/** The meaning of each status, and what a client can do about it, whatever the code. */
const ADVICE: Readonly<Record<number, readonly [meaning: string, todo: string]>> = {
  400: [
    'Malformed request',
    'The request could not be read as sent. Correct it; the same request will fail again.',
  ],
  401: ['Not authenticated', 'Send Authorization: Bearer with a valid API key.'],
  402: [
    'Payment required',
    'Pay as the answer says, or top up the account; nothing was called and nothing was charged.',
  ],
  403: ['Not allowed', 'Call the service by its own address, from an origin that it allows.'],
  404: ['Not found', 'Check the path and the id.'],
  405: ['Wrong method', 'The Allow header lists the methods of the path.'],
  408: ['Too slow', 'Send the request again, faster or in parts. The connection is closed.'],
  409: ['Conflict', 'Read the current state, then decide.'],
  410: ['Gone', 'It existed, and its retention period is over.'],
  413: ['Too large', 'Send less in one request.'],
  415: ['Wrong media type', 'Send application/json without a Content-Encoding.'],
  416: ['Past the end', 'Ask for bytes within the size that Content-Range states.'],
  417: ['Unknown expectation', 'Leave out the Expect header, or send Expect: 100-continue.'],
  422: [
    'Invalid content',
    'The JSON is well formed, but its content is not accepted. The member field names the offending field.',
  ],
  429: ['Too many requests', 'Wait for the number of seconds in Retry-After.'],
  431: ['Headers too large', 'Send fewer or shorter headers.'],
  499: ['Client disconnected', 'Nothing: this status appears only in the service’s own log.'],
  500: ['Internal error', 'Try again with the same Idempotency-Key; nothing is done twice.'],
  502: ['Provider error', 'Try again, or name another model; nothing was charged.'],
  503: [
    'Temporarily unavailable',
    'Try again with the same Idempotency-Key, each time after a longer pause.',
  ],
  504: ['Provider too slow', 'Try again, or name another model; nothing was charged.'],
};

/** Markup of every code of `errorTable` under its status, each at an anchor of its name. */
export function errorList(): string {
  const groups = [...Map.groupBy(CODES, (code) => errorTable[code].status)].sort(([a], [b]) => a - b);
  return groups.map(([status, codes]) => groupOf(status, codes)).join('\n');
}

function groupOf(status: number, codes: readonly ErrorCode[]): string {
  const advice = ADVICE[status];
  if (advice === undefined) throw new Error(`The page of errors says nothing about status ${status}.`);
  const rows = codes.map(
    (code) =>
      `<div class="error" id="${code}"><dt><a href="#${code}">${code}</a></dt><dd>${escaped(errorTable[code].title)}.</dd></div>`,
  );
  const [meaning, todo] = advice.map(escaped);
  return `<section id="status-${status}"><h2>${status} ${meaning}</h2><p>${todo}</p><dl>${rows.join('')}</dl></section>`;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
