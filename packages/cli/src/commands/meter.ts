import {
  COMMITMENT_LABELS,
  type CommitmentLabel,
  canonicalize,
  EVIDENCE_CLASSES,
  type JsonObject,
  type MeteringReceipt,
  SERVICE_UNITS,
  SETTLEMENT_CLASSES,
  TallyError,
} from '@tallystick/core';
import { type Command, Option } from 'commander';
import { apiKeyOption } from '../api-key.ts';
import { nameOf } from '../input.ts';
import { coverageLines } from '../meter/coverage.ts';
import { type MintOptions, mint } from '../meter/mint.ts';
import { openingCheck, openingFor, readOpening } from '../meter/opening.ts';
import { readSaltFile } from '../meter/salt-file.ts';
import { type Exit, print, printJson, UsageError } from '../output.ts';
import { headerOption, urlOption } from '../service.ts';
import { type Addition, type VerifyOptions, verifyFile, verifyOptions } from '../verify-options.ts';

/** `tally meter`: bills of machine work, their evidence, and their commitments. */
export function meterCommands(program: Command, finish: (exit: Exit) => void): void {
  const meter = program
    .command('meter')
    .summary('receipts for metered machine work')
    .description(
      'Metering receipts state how many units of machine work were billed and how many of them have evidence. They prove neither quality nor acceptance, and settle nothing.',
    );
  mintCommand(meter);
  verifyMeteredCommand(meter, finish);
  openingCommands(meter, finish);
}

function mintCommand(meter: Command): void {
  meter
    .command('mint')
    .summary('mint a metering receipt for a bill')
    .description(
      'Mints a metering receipt: with --key here and offline, otherwise through the service. Serial number, account and references stay here; the receipt has salted commitments to them.',
    )
    .requiredOption('--machine <serial>', 'the machine’s serial number; stays here', filled)
    .requiredOption('--customer <account>', 'the customer’s account; stays here', filled)
    .requiredOption(
      '--rate-reference <reference>',
      'the contract or price list that sets the rate; stays here',
      filled,
    )
    .addOption(
      new Option('--unit <unit>', 'what is billed').choices([...SERVICE_UNITS]).makeOptionMandatory(),
    )
    .requiredOption('--from <time>', 'start of the window (YYYY-MM-DDThh:mm:ssZ)')
    .requiredOption('--to <time>', 'end of the window, which has passed')
    .option('--compiled-at <time>', 'when the bill was compiled (default: now)')
    .requiredOption('--billed <count>', 'units billed, up to 10,000,000', wholeNumber)
    .requiredOption(
      '--unit-rate-minor <amount>',
      'price of a unit in minor units of the currency',
      wholeNumber,
    )
    .requiredOption('--currency <code>', 'three capitals, such as EUR')
    .requiredOption('--evidence <file>', 'leaves or receipts, NDJSON or CSV; an empty file for none')
    .addOption(
      new Option('--evidence-policy <policy>', 'the weakest evidence accepted for a unit').choices([
        ...EVIDENCE_CLASSES,
      ]),
    )
    .addOption(new Option('--settlement-class <class>', 'how it is settled').choices([...SETTLEMENT_CLASSES]))
    .option('--settlement <reference>', 'reference of the offer or invoice; stays here', filled)
    .option('--salt-file <file>', 'where the salt is kept (mode 0600); beside --out when absent')
    .option('--key <file>', 'mint here, with your key file (tally keys generate)')
    .addOption(urlOption())
    .addOption(headerOption('--idempotency-key <key>', 'the same key and bill give the same receipt'))
    .option('--anchor', 'anchor the receipt’s hash; needs an API key')
    .addOption(apiKeyOption())
    .option('--out <file>', 'write the receipt to a file')
    .option('--json', 'the receipt, indented; with --out, what was written')
    .addHelpText('after', MINT_HELP)
    .action(async (options: MintOptions, command: Command) => {
      const atService = command.getOptionValueSource('url') === 'cli' || options.idempotencyKey !== undefined;
      if (options.key !== undefined && atService) {
        throw new UsageError('Mint here with --key, or through the service with --url: not both.');
      }
      if (options.key !== undefined && options.anchor === true) {
        throw new UsageError('Anchor a receipt that is minted here afterwards, with: tally anchor <file>');
      }
      await mint(options);
    });
}

const MINT_HELP = `
Evidence, in the order of the file:
  NDJSON  {"unit":1,"receipt_sha256":"<64 hex>"} or {"unit":1,"receipt":{…}}
          on each line
  CSV     a header with unit and receipt_sha256, or unit and receipt (JSON, or
          a file); other columns are left alone
A whole receipt is verified, and refused where it is not valid; with a service,
it is sent there for that.
--evidence-policy verified takes whole receipts only; logged also hashes that
the service's log has, or that come with an anchor; hashed, the default, any
hash.

Example:
  $ tally meter mint --machine SN-000117 --customer acme-7 \\
      --rate-reference contract-12 --unit pallet_moved \\
      --from 2027-01-01T00:00:00Z --to 2027-02-01T00:00:00Z --billed 7 \\
      --unit-rate-minor 250 --currency EUR --evidence units.csv --out bill.json
  $ tally meter verify bill.json --evidence units.csv`;

const RECEIPT = 'the receipt: a file, or - for standard input';

function verifyMeteredCommand(meter: Command, finish: (exit: Exit) => void): void {
  verifyOptions(
    meter
      .command('verify')
      .argument('<file>', RECEIPT)
      .summary('verify a receipt with its evidence')
      .description(
        'Verifies a metering receipt with the evidence behind it, offline and in bounded memory, and shows how much of the bill has evidence. The exit status is as for `tally verify`.',
      ),
  )
    .requiredOption('--evidence <file>', 'the evidence it was minted with')
    .action(async (file: string, options: VerifyOptions) =>
      finish(
        await verifyFile(file, options, (receipt, { family, integrity }): Addition => {
          requireMetering(family, file);
          // Whoever has integrity has the form of its family.
          return integrity ? { lines: coverageLines(receipt as JsonObject & MeteringReceipt) } : {};
        }),
      ),
    );
}

function openingCommands(meter: Command, finish: (exit: Exit) => void): void {
  meter
    .command('open')
    .summary('open a commitment for another party')
    .description(
      'Prints as JSON the value and the key that open one commitment of a receipt. They reveal neither the salt nor the other keys.',
    )
    .argument('<salt-file>', 'the salt file of the receipt')
    .addOption(
      new Option('--label <label>', 'which commitment').choices([...COMMITMENT_LABELS]).makeOptionMandatory(),
    )
    .option('--json', 'indented')
    .action(async (file: string, { label, json }: { label: CommitmentLabel; json?: boolean }) => {
      const opening = openingFor(await readSaltFile(file), label);
      if (json) printJson(opening);
      else print(canonicalize(opening));
    });

  verifyOptions(
    meter
      .command('check-opening')
      .argument('<file>', RECEIPT)
      .summary('check an opening against it')
      .description(
        'Verifies a metering receipt, and that the opening fits its commitment. The exit status is as for `tally verify`.',
      ),
  )
    .argument('<opening>', 'what `tally meter open` printed')
    .action(async (file: string, openingFile: string, options: VerifyOptions) => {
      const opening = await readOpening(openingFile);
      finish(
        await verifyFile(file, options, (receipt, { family, integrity }): Addition => {
          requireMetering(family, file);
          return integrity ? { checks: [openingCheck(receipt, opening)] } : {};
        }),
      );
    });
}

function requireMetering(family: string | null, file: string): void {
  if (family === 'metering') return;
  throw new TallyError('not_a_receipt', `${nameOf(file)} is not a metering receipt. See: tally verify`);
}

function filled(text: string): string {
  if (text !== '') return text;
  throw new UsageError(
    'A serial number, account or reference is empty, so that nothing could be opened later.',
  );
}

function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`“${text}” is not a whole number.`);
}
