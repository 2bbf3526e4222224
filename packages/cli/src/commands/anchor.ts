import { parseAnchorRef } from '@tallystick/core';
import type { Command } from 'commander';
import { hashIn, hashOfFile, hashOption } from '../anchor/hash.ts';
import { type AnchorAnswer, acceptHash, anchorOfHash, anchorOfRef } from '../anchor/results.ts';
import { statusLines } from '../anchor/status.ts';
import { untilAnchored } from '../anchor/wait.ts';
import { writeAnchorResult } from '../anchor/write-result.ts';
import { apiKeyOption, requireKey } from '../api-key.ts';

import { asUsage, print, printJson, UsageError } from '../output.ts';
import type { Destination } from '../receipt-out.ts';
import { serviceAt, urlOption } from '../service.ts';

interface GetOptions extends Destination {
  readonly url: string;
  readonly wait?: boolean;
}

interface AnchorOptions extends GetOptions {
  readonly sha256?: Uint8Array;
  readonly apiKey?: string;
}

/** `tally anchor`: adds hashes to a service's log, and fetches their anchors. */
export function anchorCommands(program: Command): void {
  const anchor = program
    .command('anchor')
    .summary('anchor a receipt’s hash on a chain')
    .description(
      'Sends the hash of a receipt to a service’s log. The log’s root goes to a chain at the next posting. Only the hash leaves this machine.',
    )
    .argument('[file]', 'the receipt: a file, or - for standard input')
    .option('--sha256 <hash>', 'the hash itself: hex or base64url', hashOption)
    .addOption(apiKeyOption());
  shared(anchor)
    .addHelpText('after', ANCHOR_HELP)
    .hook('preSubcommand', refuseEarlyOptions)
    .action(anchorFile);

  shared(
    anchor
      .command('get')
      .summary('where a hash is: pending, or anchored with its proof')
      .description('Looks up where a hash is anchored. Needs no key.')
      .argument('<anchor>', 'an anchor reference, a hash, or the file of a receipt'),
  ).action(getAnchor);

  anchor
    .command('status')
    .summary('show the state of a service’s log')
    .description('Shows the size of a service’s log, and when and where it posts next.')
    .addOption(urlOption())
    .option('--json', 'as JSON')
    .action(async ({ url, json }: { url: string; json?: boolean }) => {
      const { json: body } = await serviceAt(url).get('/v1/log');
      if (json) return printJson(body);
      for (const line of statusLines(body, Date.now())) print(line);
    });
}

const ANCHOR_HELP = `
Examples:
  $ export TALLY_API_KEY=$(cat my-key)
  $ tally anchor receipt.json --wait --out anchor.json
  $ tally verify receipt.json --anchor anchor.json
  $ tally anchor get receipt.json                       later, without a key
  $ tally anchor status`;

function shared(command: Command): Command {
  return command
    .addOption(urlOption())
    .option('--wait', 'wait until it is anchored')
    .option('--out <file>', 'write the result to a file')
    .option('--json', 'the result, indented; with --out, what was written');
}

/** Refuses options of `tally anchor` itself, which would not reach its subcommand. @throws UsageError */
function refuseEarlyOptions(anchor: Command, subcommand: Command): void {
  const early = anchor.options.find(
    (option) => anchor.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (early === undefined) return;
  const name = subcommand.name();
  throw new UsageError(
    `Give ${early.long} after the word “${name}” (tally anchor ${name} ${early.long} …), or for a file of that name ./${name}`,
  );
}

async function anchorFile(file: string | undefined, options: AnchorOptions): Promise<void> {
  const { url, sha256, apiKey, wait } = options;
  if ((file === undefined) === (sha256 === undefined)) {
    throw new UsageError('Give either the file of a receipt, - for standard input, or a hash with --sha256.');
  }
  const key = requireKey(apiKey);
  const hash = sha256 ?? (await hashOfFile(file ?? '-'));
  const accepted = await acceptHash(url, hash, key);
  const answer = wait ? await untilAnchored(accepted, () => anchorOfHash(url, hash)) : accepted;
  writeAnchorResult(answer, options, file === '-' ? undefined : file);
}

async function getAnchor(anchor: string, options: GetOptions): Promise<void> {
  const ask = await questionFor(anchor, options.url);
  const first = await ask();
  const answer = options.wait ? await untilAnchored(first, ask) : first;
  const isFile = hashIn(anchor) === null && anchor !== '-' && !anchor.startsWith('urn:');
  writeAnchorResult(answer, options, isFile ? anchor : undefined);
}

async function questionFor(anchor: string, url: string): Promise<() => Promise<AnchorAnswer>> {
  if (anchor.startsWith('urn:')) {
    requireRef(anchor);
    return () => anchorOfRef(url, anchor);
  }
  const hash = hashIn(anchor) ?? (await hashOfFile(anchor));
  return () => anchorOfHash(url, hash);
}

/** @throws UsageError */
function requireRef(text: string): void {
  try {
    parseAnchorRef(text);
  } catch (error) {
    throw asUsage(error);
  }
}
