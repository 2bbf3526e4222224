import type { ForeignVerification } from '@tallystick/core/foreign';
import { paint } from './output.ts';
import { printable } from './printable.ts';
import { checkLine, headline } from './verdict.ts';

/** Names of the families in the words of their makers. */
const NAMES: Readonly<Record<ForeignVerification['family'], string>> = {
  acta: 'Acta receipt',
  x402: 'x402',
  dsse: 'DSSE envelope',
  tlog_proof: 'tlog-proof',
  cose_receipt: 'COSE Receipt',
  a2a_trust: 'x-agent-trust header',
};

/** The verdict on foreign receipts in one line. */
export function foreignHeadline({ valid, issuer, signers, checks }: ForeignVerification): string {
  const signer = printable(signers.join(', '));
  if (valid && issuer.trusted)
    return headline('green', '✓ Valid', `signed by ${signer}, a key that you trust.`);
  if (!valid) {
    const first = checks.find(({ ok }) => ok === false);
    return headline('red', '✗ Not valid', printable(`${first?.name}: ${first?.detail}`));
  }
  const open = checks.find(({ name, ok }) => name === 'inclusion' && ok === null);
  const why =
    open === undefined
      ? `nothing here says whose key ${signer} is. Give it with --key if you know it.`
      : `${printable(open.detail)} Give it with --entry.`;
  return headline('yellow', '○ Intact, but not trusted', why);
}

/** Lines that show a person the verdict on foreign receipts: the headline, every check, and what is not covered. */
export function* foreignLines(verdict: ForeignVerification): Generator<string> {
  const { family, profile, count, valid, signers, checks, notes } = verdict;
  yield foreignHeadline(verdict);
  if (valid)
    yield `  It proves that ${printable(signers.join(', '))} signed exactly this; not when, nor that what it says is true.`;
  const kind = profile === null ? NAMES[family] : `${NAMES[family]} (${printable(profile)})`;
  yield paint('dim', `  ${kind}${count > 1 ? ` · ${count} receipts` : ''}`);
  yield '';
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const check of checks) yield `  ${checkLine(check, width)}`;
  if (notes.length === 0) return;
  yield '';
  yield '  What it does not cover:';
  for (const note of notes) yield `  ${paint('yellow', '○')} ${printable(note)}`;
}
