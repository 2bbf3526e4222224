import { fromBase64url, fromHex, TallyError } from '@tallystick/core';
import { attempt } from '../attempt.ts';
import { announce, byId, element, on, setContents } from '../dom.ts';
import { fetchBytes, fetchJson, isRequestFailure, reasonOf } from '../fetch-answer.ts';
import { logProse as prose } from '../prose.ts';
import { trustAt } from '../trust.ts';
import { checkpointOf } from './checkpoint.ts';
import type { LogPosting, LogStatus } from './documents.ts';
import { inclusionOf } from './inclusion.ts';
import { postingsOf } from './postings.ts';
import { monitorOf, numbersOf, standingOf } from './status.ts';

const main = byId('main');
let lookups = 0;

/** Fetches everything at once and draws it; for what can't be read, the reason is shown in its place. */
async function show(): Promise<void> {
  main.setAttribute('aria-busy', 'true');
  const [status, note, postings] = await Promise.all([
    fetchJson<LogStatus>('/v1/log'),
    fetchBytes('/checkpoint'),
    fetchJson<{ postings: LogPosting[] }>('/v1/log/postings'),
  ]);
  const refused = (answer: Parameters<typeof reasonOf>[0]): HTMLElement =>
    element('p', 'refusal', reasonOf(answer, prose.text));
  let hasChain = true;
  if (isRequestFailure(status)) {
    setContents(byId('numbers'), refused(status));
    setContents(byId('standing'));
  } else {
    const log = status;
    hasChain = log.chain !== null;
    setContents(byId('numbers'), numbersOf(log, Date.now()));
    setContents(byId('standing'), ...standingOf(log));
    setContents(byId('monitor'), ...monitorOf(log));
  }
  setContents(
    byId('checkpoint'),
    ...(note instanceof Uint8Array
      ? await checkpointOf(new TextDecoder().decode(note), await trustAt(Date.now()))
      : [refused(note)]),
  );
  setContents(
    byId('postings'),
    isRequestFailure(postings) ? refused(postings) : postingsOf(postings.postings, hasChain),
  );
  main.setAttribute('aria-busy', 'false');
}

/** Reads 32 bytes from a text in hex, with or without `sha256:`, or base64url; null for anything else. */
function hashIn(text: string): Uint8Array | null {
  const hex = text.trim().replace(/^(?:sha256:|0x)/, '');
  const bytes = attempt(() =>
    /^[0-9a-f]{64}$/i.test(hex) ? fromHex(hex.toLowerCase()) : fromBase64url(text.trim()),
  );
  return bytes instanceof TallyError || bytes.length !== 32 ? null : bytes;
}

async function lookUp(): Promise<void> {
  const run = ++lookups;
  const hash = hashIn(byId('hash', HTMLInputElement).value);
  const found =
    hash === null
      ? element('p', 'refusal', prose.text.badHash)
      : await inclusionOf(hash, await trustAt(Date.now()));
  if (run !== lookups) return;
  setContents(byId('inclusion'), found);
  announce(byId('inclusion').textContent ?? '');
}

on(byId('lookup'), 'submit', (event) => {
  event.preventDefault();
  return lookUp();
});
void show();
