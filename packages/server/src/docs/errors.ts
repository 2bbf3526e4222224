import { type ErrorCode, errorTable } from '@tallystick/core';
import { type Html, html } from './html.ts';
import { renderPage } from './page.ts';

const CODES = Object.keys(errorTable) as ErrorCode[];

/** What a client does about a status, whatever the code. */
const ADVICE: Readonly<Record<number, readonly [meaning: string, todo: string]>> = {
  400: [
    'Malformed request',
    'The bytes are not what they should be. Mend them; the same request fails again.',
  ],
  401: ['Who is asking', 'Send Authorization: Bearer and an API key that is in force.'],
  402: ['Not paid', 'Pay into the account; nothing was called and nothing charged.'],
  403: ['Not from here', 'Call the service by its own address, from an origin that it allows.'],
  404: ['Not here', 'Check the path and the id.'],
  405: ['Wrong method', 'The header Allow names the methods of the path.'],
  408: ['Too slow', 'Send the request again, faster or in parts. The connection is closed.'],
  409: ['Conflict', 'Read the present state, then decide.'],
  410: ['Gone', 'It was here and its time is over.'],
  413: ['Too large', 'Send less at once.'],
  415: ['Wrong media type', 'Send application/json without a Content-Encoding.'],
  416: ['Past the end', 'Ask for bytes that are there: Content-Range says how many there are.'],
  417: ['Unknown expectation', 'Leave the header Expect out, or send Expect: 100-continue.'],
  422: ['Not acceptable', 'The JSON is sound and its content is not. The member field names the culprit.'],
  429: ['Too many', 'Wait for the seconds in Retry-After.'],
  431: ['Headers too large', 'Send fewer or shorter headers.'],
  499: ['Nobody there', 'Nothing: it is in the service’s own log only.'],
  500: ['Our fault', 'Try again with the same Idempotency-Key; nothing is done twice.'],
  502: ['A provider’s fault', 'Try again, or name another model; nothing was charged.'],
  503: ['Not just now', 'Try again with the same Idempotency-Key, each time after a longer pause.'],
  504: ['Too slow', 'Try again, or name another model; nothing was charged.'],
};

/** Every code of `errorTable` under its status, each at an anchor of its name. */
export function errorsPage(): string {
  const groups = [...Map.groupBy(CODES, (code) => errorTable[code].status)].sort(([a], [b]) => a - b);
  return renderPage({
    title: 'Tallystick errors',
    description: 'Every error code of the service, and what to do about it.',
    current: '/docs/errors',
    nav: html`<details><summary>Statuses</summary><ul class="contents"><li><a href="/docs">Reference</a></li>${groups.map(
      ([status]) => html`<li><a href="#status-${status}">${status} ${ADVICE[status]?.[0]}</a></li>`,
    )}</ul></details>`,
    main: html`<h1>Errors</h1><p class="lede">Every error is a problem document (RFC 9457). Its <code>code</code> is one of these and keeps its meaning; <code>detail</code> says what is wrong in the case at hand and may change its words.</p>${groups.map(([status, codes]) => statusGroup(status, codes))}`,
  });
}

function statusGroup(status: number, codes: readonly ErrorCode[]): Html {
  const [meaning, todo] = ADVICE[status] ?? ['', ''];
  return html`<section class="group" id="status-${status}"><h2>${status} ${meaning}</h2><p>${todo}</p><dl>${codes.map(
    (code) =>
      html`<div class="error" id="${code}"><dt><a class="anchor" href="#${code}">${code}</a></dt><dd>${errorTable[code].title}.</dd></div>`,
  )}</dl></section>`;
}
