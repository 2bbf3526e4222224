import { isObject, type JsonObject, type JsonValue, type Verification } from '@tallystick/core';
import { stateOf } from './checks.ts';
import { element, fromTemplate, icon } from './dom.ts';
import { formatText, prose } from './words.ts';

const grouped = new Intl.NumberFormat('en');

/** Draws how much of a bill has evidence, from a metering receipt whose form is valid. */
export function coverageOf(receipt: JsonValue, { checks, valid }: Verification): DocumentFragment {
  const body = memberOf(receipt, 'signed_body');
  const metered = memberOf(body, 'metered');
  const rate = memberOf(body, 'rate');
  const billed = Number(metered.billed_unit_count);
  const backed = Number(metered.evidence_backed_unit_count);
  const unit = words(body.service_unit);
  const amounts = [Number(body.amount_minor), Number(body.evidence_backed_amount_minor)] as const;
  const evidence = checks.find(({ name }) => name === 'evidence');
  const share = billed === 0 ? 0 : Math.min(1, backed / billed);
  const percent = `${percentOf(share)} %`;
  const summary = formatText(prose.text.coverage, count(backed), count(billed), unit, percent);
  const drawn = fromTemplate('t-coverage', {
    summary: valid ? summary : `${summary} ${prose.text.coverageDoubt}`,
    backed: count(backed),
    unbacked: count(metered.unbacked_unit_count),
    billed: count(billed),
    'backed-amount': count(amounts[1]),
    'unbacked-amount': count(amounts[0] - amounts[1]),
    amount: count(amounts[0]),
    currency: words(rate.currency),
    rate: `${count(rate.unit_rate_minor)} (${words(rate.currency)})`,
    window: formatText(prose.text.window, body.window_start, body.window_end),
    class: words(body.coverage_class),
    verdict: words(body.verdict),
    evidence: evidence
      ? element('span', '', icon(stateOf(evidence)), ` ${evidence.detail}`)
      : prose.text.notReached,
  });
  const bar = drawn.querySelector('.bar');
  const filled = drawn.querySelector<HTMLElement>('.bar .backed');
  bar?.setAttribute('aria-label', formatText(prose.text.coverageBar, percent));
  if (filled) {
    filled.style.width = `${share * 100}%`;
    if (share > 0) filled.style.minWidth = '4px';
    filled.classList.toggle('none', share === 0);
    filled.classList.toggle('all', share === 1);
  }
  return drawn;
}

/** Formats a share in percent with two places; only everything is 100 and only nothing is 0. */
function percentOf(share: number): number {
  if (share === 0 || share === 1) return share * 100;
  return Math.min(99.99, Math.max(0.01, Math.round(share * 10_000) / 100));
}

/** Shows a value such as `majority_evidence_backed` as words. */
const words = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value.replaceAll('_', ' ') : '';

const count = (value: unknown): string => grouped.format(Number(value));

function memberOf(value: JsonValue, name: string): JsonObject {
  const member = isObject(value) ? value[name] : undefined;
  return isObject(member) ? member : {};
}
