import { existsSync } from 'node:fs';
import { type JsonValue, TallyError, verify, verifyCorrections } from '@tallystick/core';
import type { GetCorrectionsAnswer } from '@tallystick/sdk';
import type { Command } from 'commander';
import { apiKeyOption, requireKey } from '../api-key.ts';
import { nameOf, readJson } from '../input.ts';
import { print, printJson, UsageError } from '../output.ts';
import { printable } from '../printable.ts';
import { checkedReceipt, type Destination, writeReceiptResult } from '../receipt-out.ts';
import { headerOption, serviceAt, urlOption } from '../service.ts';

interface CorrectOptions extends Destination {
  readonly url: string;
  readonly reason?: string;
  readonly apiKey?: string;
  readonly idempotencyKey?: string;
}

interface CorrectionsOptions {
  readonly url: string;
  readonly apiKey?: string;
  readonly json?: boolean;
}

const FORMS = 'a file, - for standard input, or its id';

/** `tally correct` and `tally corrections`: receipts that supersede others. */
export function correctionCommands(program: Command): void {
  program
    .command('correct')
    .summary('have a service sign that a receipt corrects another')
    .description(
      'Has a service sign and anchor an envelope that says that the second receipt supersedes the first. Both are envelopes or metering receipts of your account. Neither is changed, and the first verifies as before.',
    )
    .argument('<first>', `the receipt that is superseded: ${FORMS}`)
    .argument('<second>', 'the receipt that supersedes it, likewise')
    .option('--reason <text>', 'why, in your words; the text is signed')
    .addOption(urlOption())
    .addOption(apiKeyOption())
    .option('--out <file>', 'write the envelope to a file')
    .addOption(headerOption('--idempotency-key <key>', 'the same key and request give the same envelope'))
    .option('--json', 'the envelope, indented; with --out, what was written')
    .addHelpText('after', CORRECT_HELP)
    .action(correct);

  program
    .command('corrections')
    .summary('show what corrects a receipt, and what it corrects')
    .description(
      'Asks a service which receipt supersedes this one, and which one it supersedes. The answer is not signed: `tally verify` judges the envelope that it names.',
    )
    .argument('<receipt>', `the receipt: ${FORMS}`)
    .addOption(urlOption())
    .addOption(apiKeyOption())
    .option('--json', 'as JSON')
    .action(showCorrections);
}

const CORRECT_HELP = `
Example:
  $ tally correct first.json second.json --out link.json \\
      --reason "Two picks were counted twice."
  $ tally verify first.json second.json link.json`;

/** A receipt that is named by its file, or by its id alone. */
interface Named {
  readonly id: string;
  /** The file that holds the receipt; null if only its id was given. */
  readonly file: { readonly path: string; readonly document: JsonValue } | null;
}

/** @throws UsageError for a file without an intact receipt */
async function readNamed(text: string): Promise<Named> {
  if (/^r_[\w.-]+$/.test(text) && !existsSync(text)) return { id: text, file: null };
  const document = await readJson(text);
  const { integrity, receipt_id: id, checks } = await verify(document, { now: Date.now() });
  if (integrity && id !== null) return { id, file: { path: text, document } };
  const fault = checks.find(({ ok }) => ok === false);
  throw new UsageError(`${nameOf(text)} is not a receipt as it was issued. ${fault?.detail ?? ''}`);
}

async function correct(first: string, second: string, options: CorrectOptions): Promise<void> {
  const { url, reason, apiKey, idempotencyKey } = options;
  if (first === '-' && second === '-') throw new UsageError('Standard input can be read once: give - once.');
  const key = requireKey(apiKey, 'A correction');
  const [corrects, correction] = [await readNamed(first), await readNamed(second)];
  const body = {
    corrects: corrects.id,
    correction: correction.id,
    ...(reason !== undefined && { reason }),
  };
  const reply = await serviceAt(url, { apiKey: key }).post('/v1/receipt/corrections', body, {
    idempotencyKey,
  });
  const receiptId = await checkedReceipt(reply.json, url);
  const files = [corrects, correction].flatMap(({ file }) => (file === null ? [] : [file]));
  await requireLink(reply.json, { corrects, correction, url });
  writeReceiptResult(
    {
      text: reply.text,
      receiptId,
      check: (file) => ['tally verify', ...files.map(({ path }) => path), file].join(' '),
    },
    options,
  );
}

interface Asked {
  readonly corrects: Named;
  readonly correction: Named;
  readonly url: string;
}

/** Checks that an envelope links the receipts that were named, by their hashes if they were given. @throws unavailable */
async function requireLink(envelope: JsonValue, { corrects, correction, url }: Asked): Promise<void> {
  const given = [corrects, correction].flatMap(({ file }) => (file === null ? [] : [file.document]));
  const [link] = await verifyCorrections([...given, envelope], { now: Date.now() });
  const isOf = link?.corrects.receipt_id === corrects.id && link.correction.receipt_id === correction.id;
  if (isOf && link.corrects.state !== 'contradicts' && link.correction.state !== 'contradicts') return;
  throw new TallyError('unavailable', `${url} answered with an envelope that does not link these receipts.`);
}

async function showCorrections(receipt: string, { url, apiKey, json }: CorrectionsOptions): Promise<void> {
  const { id } = await readNamed(receipt);
  const reply = await serviceAt(url, { apiKey }).get(`/v1/receipt/${encodeURIComponent(id)}/corrections`);
  if (json) return printJson(reply.json);
  const { corrected_by, corrects } = reply.json as unknown as GetCorrectionsAnswer;
  if (corrected_by === null && corrects === null) print(`Nothing corrects ${id}, and it corrects nothing.`);
  for (const [link, what] of [
    [corrected_by, 'is corrected by'],
    [corrects, 'corrects'],
  ] as const) {
    if (link === null) continue;
    const { receipt_id, link_id, at, reason } = link;
    const why = reason === null ? '' : ` Reason: ${reason}`;
    print(printable(`${id} ${what} ${receipt_id}, by ${link_id} of ${at}.${why}`));
  }
}
