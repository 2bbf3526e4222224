import {
  fromHex,
  type IssuerRecord,
  type JsonObject,
  openSeal,
  type SealReference,
  TallyError,
  trustOf,
  type Verification,
  verifyParsed,
} from '@tallystick/core';
import { stateOf } from '../checks.ts';
import { announce, button, byId, element, icon, setContents } from '../dom.ts';
import { dataOf, formatText, prose } from '../words.ts';

/** The samples in the page: made by scripts/samples.ts from fixed keys. */
export interface Samples {
  readonly issuers: readonly IssuerRecord[];
  readonly valid: JsonObject;
  readonly tampered: JsonObject;
  readonly forged: JsonObject;
  /** A receipt about a sealed document, the document, its key and another key, both hex. */
  readonly sealing: {
    readonly receipt: JsonObject & { readonly seal: JsonObject & SealReference };
    readonly document: JsonObject;
    readonly key: string;
    readonly wrongKey: string;
  };
}

interface Result {
  /** The finding, in a word or two. */
  readonly found: string;
  readonly why: string;
  /** Whether the finding is the expected one; null if this browser could not run the check. */
  readonly expected: boolean | null;
  readonly receipt?: JsonObject;
}

/** Runs the checks and shows what each found. `open` puts a sample into the receipt box. */
export async function fiveChecks(open: (receipt: JsonObject) => unknown): Promise<void> {
  const results = await Promise.all(runFive(dataOf('samples') as Samples));
  const rows = [...byId('five-list').children];
  for (const [index, result] of results.entries()) {
    const row = rows[index];
    if (row) showResult(row, result, open);
  }
  const summary = summaryOf(results);
  const line = byId('five-summary');
  setContents(line, summary);
  line.hidden = false;
  announce(summary);
}

function summaryOf(results: readonly Result[]): string {
  const right = results.filter(({ expected }) => expected).length;
  if (right === results.length) return prose.text.allFive;
  const wrong = results.some(({ expected }) => expected === false);
  return wrong ? formatText(prose.text.notAllFive, right) : prose.text.fourOfFive;
}

function showResult(
  row: Element,
  { found, why, expected, receipt }: Result,
  open: (receipt: JsonObject) => unknown,
): void {
  for (const old of row.querySelectorAll('.outcome, .row')) old.remove();
  const state = stateOf({ ok: expected });
  const line = element('p', 'outcome', icon(state), element('strong', '', found), ` ${why}`);
  line.dataset.state = state;
  row.append(line);
  if (receipt === undefined) return;
  const opener = button(prose.text.openSample, 'quiet', () => open(receipt));
  row.append(element('div', 'row', opener));
}

function runFive(samples: Samples): Promise<Result>[] {
  const { issuers, valid, tampered, forged, sealing } = samples;
  const trust = trustOf(issuers);
  const verdictOn = (receipt: JsonObject): Promise<Verification> =>
    verifyParsed(receipt, { now: Date.now(), trust });
  return [
    judged(valid, verdictOn, 'signature', true, prose.five.valid),
    judged(tampered, verdictOn, 'payload_sha256', false, prose.five.tampered),
    judged(forged, verdictOn, 'signature', false, prose.five.forged),
    opened(sealing, verdictOn, sealing.key, null),
    opened(sealing, verdictOn, sealing.wrongKey, 'seal_wrong_key'),
  ];
}

/** Judges by one check; the verdict as a whole must agree with it. */
async function judged(
  receipt: JsonObject,
  verdictOn: (receipt: JsonObject) => Promise<Verification>,
  name: string,
  must: boolean,
  [good, bad]: readonly string[],
): Promise<Result> {
  const { valid, issuer, checks } = await verdictOn(receipt);
  const check = checks.find((one) => one.name === name);
  return {
    found: (check?.ok ? good : bad) ?? '',
    why: check?.detail ?? '',
    expected: check?.ok === must && valid === must && issuer.trusted === must,
    receipt,
  };
}

async function opened(
  { receipt, document, ...sealing }: Samples['sealing'],
  verdictOn: (receipt: JsonObject) => Promise<Verification>,
  key: string,
  must: string | null,
): Promise<Result> {
  const { valid } = await verdictOn(receipt);
  if (must === null && !('subtle' in crypto)) {
    return { found: prose.text.notRun, why: prose.text.noAes, expected: null };
  }
  try {
    const text = new TextDecoder().decode(await openSeal(document, fromHex(key, 32), receipt.seal));
    const expected = valid && must === null && sealing.key === key;
    return { found: prose.text.verified, why: formatText(prose.text.sealedText, text), expected };
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    return { found: prose.text.refused, why: error.message, expected: valid && error.code === must };
  }
}
