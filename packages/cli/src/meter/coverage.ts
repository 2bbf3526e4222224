import type { MeteringReceipt } from '@tallystick/core';
import { paint } from '../output.ts';
import { bar } from '../progress-line.ts';

const WIDTH = 30;

/** Lines that show a person how much of a bill has evidence. */
export function* coverageLines({ signed_body: body }: MeteringReceipt): Generator<string> {
  const { billed_unit_count: billed, evidence_backed_unit_count: backed, unbacked_unit_count } = body.metered;
  const share = billed === 0 ? 0 : backed / billed;
  const unbackedAmount = body.amount_minor - body.evidence_backed_amount_minor;
  yield '';
  yield `  ${paint(share === 1 ? 'green' : 'yellow', bar(share, WIDTH))} ${percentOf(share)} % of ${count(billed)} ${body.service_unit}`;
  yield `  ${row('with evidence', backed, body.evidence_backed_amount_minor)}`;
  yield `  ${row('without', unbacked_unit_count, unbackedAmount)}`;
  yield `  ${row('billed', billed, body.amount_minor)}`;
  yield paint(
    'dim',
    `  ${body.coverage_class} · amounts in minor units of ${body.rate.currency}, ${count(body.rate.unit_rate_minor)} each`,
  );
  yield paint('dim', `  ${body.window_start} to ${body.window_end}`);
}

function row(label: string, units: number, amount: number): string {
  return `${label.padEnd(13)} ${count(units).padStart(10)} ${count(amount).padStart(22)}`;
}

/** Percentage with two places; only everything is 100 and only nothing is 0. */
function percentOf(share: number): number {
  if (share === 0 || share === 1) return share * 100;
  return Math.min(99.99, Math.max(0.01, Math.round(share * 10_000) / 100));
}

const count = (value: number): string => value.toLocaleString('en');
