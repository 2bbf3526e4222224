import { type ErrorCode, errorTable } from '@tallystick/core';
import { type Html, html } from './html.ts';
import { renderPage } from './page.ts';

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

/** The page with every code of `errorTable` under its status, each at an anchor of its name. */
export function errorsPage(): string {
  const groups = [...Map.groupBy(CODES, (code) => errorTable[code].status)].sort(([a], [b]) => a - b);
  return renderPage({
    title: 'Tallystick errors',
    description: 'Every error code of the service, and what to do about it.',
    current: '/docs/errors',
    nav: html`<details><summary>Statuses</summary><ul class="contents"><li><a href="/docs">Reference</a></li>${groups.map(
      ([status]) => html`<li><a href="#status-${status}">${status} ${ADVICE[status]?.[0]}</a></li>`,
    )}</ul></details>`,
    main: html`<h1>Errors</h1><p class="lede">Every error is a problem document (RFC 9457). Its <code>code</code> is one of these and never changes its meaning; <code>detail</code> explains the particular case, and its wording may change.</p>${groups.map(([status, codes]) => statusGroup(status, codes))}`,
  });
}

function statusGroup(status: number, codes: readonly ErrorCode[]): Html {
  const [meaning, todo] = ADVICE[status] ?? ['', ''];
  return html`<section class="group" id="status-${status}"><h2>${status} ${meaning}</h2><p>${todo}</p><dl>${codes.map(
    (code) =>
      html`<div class="error" id="${code}"><dt><a class="anchor" href="#${code}">${code}</a></dt><dd>${errorTable[code].title}.</dd></div>`,
  )}</dl></section>`;
}
