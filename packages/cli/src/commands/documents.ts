import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { anchoredHash, canonicalBytes, countersign, isObject, type JsonValue, TallyError, verify } from '@tallystick/core';
import { readJson } from '../input.ts';
import { readKeyFile } from '../key-file.ts';
import { paint, print, printJson, remark, UsageError } from '../output.ts';

/** `tally countersign` and `tally inspect`: work on a receipt in a file. */
export function documentCommands(program: Command): void {
  program
    .command('countersign')
    .summary('add the requester’s or operator’s signature')
    .description('Adds a counter-signature to an envelope. What was signed before stays as it is, and so does its anchor.')
    .argument('<file>', 'the receipt: a file, or - for standard input')
    .requiredOption('--role <role>', 'requester or operator')
    .requiredOption('--key <file>', 'your key file (tally keys generate)')
    .option('--out <file>', 'write the receipt to a file')
    .option('--json', 'the receipt, indented')
    .action(async (file: string, options: { role: string; key: string; out?: string; json?: boolean }) => {
      if (options.role !== 'requester' && options.role !== 'operator') {
        throw new UsageError('--role is requester or operator.');
      }
      const signed = await countersign(await readJson(file), options.role, await readKeyFile(options.key));
      if (options.out !== undefined) {
        writeFileSync(options.out, `${signed}\n`);
        remark(`Wrote the counter-signed receipt to ${options.out}.`);
      } else if (options.json) printJson(JSON.parse(signed));
      else print(signed);
    });

  program
    .command('inspect')
    .summary('show what a receipt says')
    .description('Lays a receipt out for reading. It judges nothing: `tally verify` does.')
    .argument('<file>', 'the receipt: a file, or - for standard input')
    .option('--json', 'as JSON')
    .action(async (file: string, options: { json?: boolean }) => inspect(await readJson(file), options.json === true));
}

async function inspect(document: JsonValue, json: boolean): Promise<void> {
  const { family, profile, receipt_id } = await verify(document, { now: Date.now() });
  if (family === null || !isObject(document)) {
    throw new TallyError('not_a_receipt', 'The document is not a receipt of a known family.');
  }
  const facts = {
    family,
    profile,
    receipt_id,
    bytes: canonicalBytes(document).length,
    anchored_sha256: anchoredHash(document),
  };
  if (json) return printJson({ ...facts, document });
  for (const [name, value] of Object.entries(facts)) print(`${paint('dim', name.padEnd(16))} ${value}`);
  print('');
  for (const line of lines(document, '')) print(line);
}

function* lines(value: JsonValue, indent: string): Generator<string> {
  if (value === null || typeof value !== 'object') {
    yield `${indent}${String(value)}`;
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    if (member !== null && typeof member === 'object') {
      yield `${indent}${paint('bold', name)}`;
      yield* lines(member, `${indent}  `);
    } else yield `${indent}${paint('dim', name)} ${member === null ? paint('dim', 'unknown') : String(member)}`;
  }
}
