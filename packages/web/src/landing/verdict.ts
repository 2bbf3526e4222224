import { type JsonValue, parseJson, TallyError, type Verification, verifyParsed } from '@tallystick/core';
import { attempt } from '../attempt.ts';
import { announce, byId, element, fromTemplate, icon, type State, setContents } from '../dom.ts';
import { landingProse as prose } from '../prose.ts';
import { type TrustInUse, trustAt } from '../trust.ts';
import { formatText } from '../words.ts';

interface Claim {
  readonly state: State;
  readonly text: string;
}

interface Result {
  readonly state: State;
  readonly title: string;
  readonly message: string;
  readonly integrity: Claim;
  readonly trust: Claim;
  readonly tally: string;
}

/**
 * Judges a receipt and shows the verdict, unless there is a newer one to judge.
 * @returns the document, or null if the bytes are not JSON
 */
export async function showVerdict(bytes: Uint8Array, isNewest: () => boolean): Promise<JsonValue> {
  const now = Date.now();
  const trust = await trustAt(now);
  const document = attempt(() => parseJson(bytes));
  const result =
    document instanceof TallyError
      ? unreadable(document)
      : resultOf(await verifyParsed(document, { now, trust: trust.issuers }), trust);
  if (isNewest()) draw(result);
  return document instanceof TallyError ? null : document;
}

function draw({ state, title, message, integrity, trust, tally }: Result): void {
  const claim = ({ state, text }: Claim): HTMLElement => {
    const made = element('span', '', icon(state), text);
    made.dataset.state = state;
    return made;
  };
  const card = fromTemplate('t-result', {
    icon: icon(state),
    title,
    message,
    integrity: claim(integrity),
    trust: claim(trust),
    tally,
  });
  const box = card.querySelector<HTMLElement>('.verdict');
  if (box) box.dataset.state = state;
  setContents(byId('verdict'), card);
  announce(`${title}. ${message}`);
}

function unreadable({ message }: TallyError): Result {
  const { text } = prose;
  return {
    state: 'fail',
    title: text.unreadable,
    message,
    integrity: { state: 'fail', text: text.holdsNot },
    trust: { state: 'unknown', text: text.onlyValid },
    tally: '',
  };
}

function resultOf({ valid, integrity, issuer, checks }: Verification, trust: TrustInUse): Result {
  const { text } = prose;
  const count = (ok: boolean | null): number => checks.filter((check) => check.ok === ok).length;
  const failure = checks.find(({ ok }) => ok === false);
  const good = issuer.trusted ? (trust.remembered ? 'rememberedTitle' : 'trusted') : 'intact';
  return {
    state: valid ? (issuer.trusted ? 'pass' : 'unsure') : 'fail',
    title: text[valid ? good : 'invalid'],
    message: valid ? voucher(issuer, trust) : (failure?.detail ?? ''),
    integrity: integrity ? { state: 'pass', text: text.holds } : { state: 'fail', text: text.holdsNot },
    trust: issuer.trusted
      ? trust.remembered
        ? { state: 'pass', text: text.isTrusted }
        : { state: 'unknown', text: text.isVouched }
      : { state: 'unknown', text: valid ? text.isNotTrusted : text.onlyValid },
    tally: formatText(text.checks, count(true), count(false), count(null)),
  };
}

function voucher({ trusted, did }: Verification['issuer'], { site, remembered }: TrustInUse): string {
  const { text } = prose;
  if (!trusted) return text.nobody;
  return site === null || remembered ? formatText(text.remembered, did) : formatText(text.vouched, did, site);
}
