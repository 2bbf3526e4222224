import {
  anchoredHash,
  canonicalBytes,
  countersign,
  isObject,
  type JsonValue,
  TallyError,
  verify,
} from '@tallystick/core';
import { type Command, Option } from 'commander';
import { writeOut } from '../files.ts';
import { named, nameOf, readJson } from '../input.ts';
import { readKeyFile } from '../key-file.ts';
import { paint, print, printJson, remark } from '../output.ts';
import { printable } from '../printable.ts';

interface CountersignOptions {
  readonly role: 'requester' | 'operator';
  readonly key: string;
  readonly out?: string;
  readonly json?: boolean;
}

/** `tally countersign` and `tally inspect`: work on a receipt in a file. */
export function documentCommands(program: Command): void {
  program
    .command('countersign')
    .summary('add the requester’s or operator’s signature')
    .description(
      'Adds a counter-signature to an envelope. The existing signatures and the anchor stay valid. ' +
        'The requester is the DID in request.origin (tally mint --agent), the operator the one in operator.entity.',
    )
    .argument('<file>', 'the receipt: a file, or - for standard input')
    .addOption(
      new Option('--role <role>', 'who signs').choices(['requester', 'operator']).makeOptionMandatory(),
    )
    .requiredOption('--key <file>', 'your key file (tally keys generate)')
    .option('--out <file>', 'write the receipt to a file')
    .option('--json', 'the receipt, indented; with --out, what was written')
    .addHelpText('after', COUNTERSIGN_HELP)
    .action(countersignFile);

  program
    .command('inspect')
    .summary('show what a receipt says')
    .description('Prints a receipt for reading. It checks nothing: `tally verify` does.')
    .argument('<file>', 'the receipt: a file, or - for standard input')
    .option('--json', 'as JSON')
    .action(async (file: string, options: { json?: boolean }) => inspect(file, options.json === true));
}

const COUNTERSIGN_HELP = `
Example:
  $ me=$(tally keys generate --out me.json)
  $ tally mint --text hello --agent "$me" --out receipt.json
  $ tally countersign receipt.json --role requester --key me.json \\
      --out signed.json`;

async function countersignFile(file: string, { role, key, out, json }: CountersignOptions): Promise<void> {
  const document = await readJson(file);
  const signed = await countersign(document, role, await readKeyFile(key)).catch((error: unknown) => {
    throw named(error, file);
  });
  if (out !== undefined) {
    writeOut(out, `${signed}\n`);
    if (json) printJson({ file: out, role });
    else remark(`Wrote the counter-signed receipt to ${out}.`);
  } else if (json) printJson(JSON.parse(signed));
  else print(signed);
}

async function inspect(file: string, json: boolean): Promise<void> {
  const document = await readJson(file);
  const { family, profile, receipt_id, checks } = await verify(document, { now: Date.now() });
  if (family === null || !isObject(document)) {
    throw new TallyError('not_a_receipt', `${nameOf(file)} is not a receipt of a known family.`);
  }
  const fault = checks.find(({ name, ok }) => name === 'format' && ok === false);
  const facts = {
    family,
    profile,
    receipt_id,
    bytes: canonicalBytes(document).length,
    anchored_sha256: fault === undefined ? anchoredHash(document) : null,
  };
  if (json) return printJson({ ...facts, document });
  for (const [name, value] of Object.entries(facts))
    print(`${paint('dim', name.padEnd(16))} ${shown(value)}`);
  print('');
  for (const line of lines(document, '')) print(line);
  if (fault !== undefined) remark(`It is not a receipt: ${fault.detail}`);
}

function* lines(value: JsonValue, indent: string): Generator<string> {
  if (value === null || typeof value !== 'object') {
    yield `${indent}${shown(value)}`;
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    const label = printable(name);
    if (member !== null && typeof member === 'object') {
      yield `${indent}${paint('bold', label)}`;
      yield* lines(member, `${indent}  `);
    } else yield `${indent}${paint('dim', label)} ${shown(member)}`;
  }
}

function shown(value: string | number | boolean | null): string {
  return value === null ? paint('dim', 'null') : printable(String(value));
}
