import { type Verification, witnessedText } from '@tallystick/core';
import { paint } from './output.ts';
import { printable } from './printable.ts';

type Check = Verification['checks'][number];

/** The line that `verify` prints if there is no document to judge. */
export function invalidInput(reason: string): string {
  return headline('red', '✗ Not valid', printable(reason));
}

/** Facts that the lines of a verdict need. */
interface Context {
  /** Name of the input. */
  readonly name: string;
  readonly vouchedBy: string | null;
  /** Time of the block that holds the anchor's root, if the chain was asked. */
  readonly existedAt: string | null;
}

/** Lines that show a person the verdict: the headline, what it proves and what not, the issuer, then every check. */
export function* verdictLines(
  verdict: Verification,
  { name, vouchedBy, existedAt }: Context,
): Generator<string> {
  yield headlineOf(verdict, name);
  if (verdict.family === null) return;
  if (verdict.valid) yield `  ${meaning(verdict, existedAt)}`;
  yield paint('dim', `  ${identity(verdict, vouchedBy)}`);
  yield '';
  const width = Math.max(...verdict.checks.map((check) => check.name.length));
  for (const check of verdict.checks) yield `  ${checkLine(check, width)}`;
}

/** The verdict in one line. `name` is that of the input. */
export function headlineOf(verdict: Verification, name: string): string {
  const { family, valid, issuer, checks, witnessed } = verdict;
  if (family === null) return invalidInput(`${name} is not a receipt of a known family.`);
  if (valid && issuer.trusted && witnessed?.satisfied === false)
    return headline('yellow', '○ Valid, but not witnessed', printable(`${witnessedText(witnessed)}.`));
  if (valid && issuer.trusted)
    return headline('green', '✓ Valid', `${issuer.did}, an issuer that you trust.`);
  if (valid) return headline('yellow', '○ Intact, but not trusted', untrusted(issuer.status, checks));
  const first = checks.find(({ ok }) => ok === false);
  return headline(
    'red',
    '✗ Not valid',
    printable(`${first?.name ?? 'format'}: ${first?.detail ?? 'not checked.'}`),
  );
}

function untrusted(status: Verification['issuer']['status'], checks: readonly Check[]): string {
  const dispute = checks.find(({ name }) => name === 'trust');
  if (dispute !== undefined) return printable(dispute.detail);
  if (status === 'unknown') return 'no saved trust says whose key this is.';
  const window = checks.find(({ name, ok }) => name === 'key_window' && ok === null);
  return printable(window?.detail ?? 'the issuer is registered, but its service has not verified it.');
}

export function headline(style: 'green' | 'yellow' | 'red', verdict: string, text: string): string {
  return `${paint('bold', paint(style, verdict))}: ${text}`;
}

/** One line that says what follows from the verdict, and what does not. */
function meaning(verdict: Verification, existedAt: string | null): string {
  const { issuer, family } = verdict;
  const signer = printable((issuer.trusted ? issuer.did : issuer.key_id) ?? 'the key');
  const proves = `It proves that ${signer} signed exactly this`;
  const not =
    family === 'metering'
      ? 'how well the work was done, that it was accepted, or that money is owed'
      : 'that what it says is true';
  const holds = (name: string): boolean =>
    verdict.checks.some((check) => check.name === name && check.ok === true);
  const witnesses = verdict.witnessed?.satisfied ? verdict.witnessed.by : [];
  const seen =
    witnesses.length === 0 ? '' : `, and that ${printable(witnesses.join(', '))} saw the log's tree`;
  if (holds('anchor_transaction') && existedAt !== null)
    return `${proves}${seen}, and that it existed at ${existedAt}; not ${not}.`;
  const logged =
    holds('anchor') && holds('anchor_checkpoint')
      ? ', and that it is in a log whose checkpoint is signed'
      : '';
  return `${proves}${logged}${seen}; not when, nor ${not}.`;
}

function identity(
  { integrity, receipt_id, family, profile, issuer }: Verification,
  vouchedBy: string | null,
): string {
  const kind = profile === null || profile === family ? family : `${family} (${profile})`;
  const who =
    issuer.did === null ? null : integrity ? `${issuer.did} ${issuer.status}` : `names ${issuer.did}`;
  const key = !integrity || issuer.key_state === 'unknown' ? null : `key ${issuer.key_state}`;
  const voucher = vouchedBy === null ? null : `vouched for by ${vouchedBy}`;
  const parts = [receipt_id, kind, who, key, voucher].filter((part) => part !== null);
  return parts.map(printable).join(' · ');
}

export function checkLine({ name, ok, detail }: Check, width: number): string {
  const label = name.padEnd(width);
  const text = printable(detail);
  if (ok === null) return paint('dim', `– ${label}  ${text}`);
  return ok
    ? `${paint('green', '✓')} ${label}  ${text}`
    : `${paint('red', '✗')} ${paint('bold', label)}  ${text}`;
}
