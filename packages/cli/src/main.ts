import { VERSION } from '@tallystick/core';
import { type Command, CommanderError } from 'commander';
import { TallyCommand } from './command.ts';
import { anchorCommands } from './commands/anchor.ts';
import { apiKeyCommands } from './commands/apikey.ts';
import { compressCommand } from './commands/compress.ts';
import { devCommands } from './commands/dev.ts';
import { documentCommands } from './commands/documents.ts';
import { evidenceCommands } from './commands/evidence.ts';
import { keyCommands } from './commands/keys.ts';
import { ledgerCommands } from './commands/ledger.ts';
import { logCommands } from './commands/log.ts';
import { meterCommands } from './commands/meter.ts';
import { orderCommands } from './commands/orders.ts';
import { payoutCommands } from './commands/payouts.ts';
import { prospectorCommands } from './commands/prospector.ts';
import { receiptCommands } from './commands/receipts.ts';
import { rosettaCommands } from './commands/rosetta.ts';
import { routeCommands } from './commands/route.ts';
import { serviceCommands } from './commands/service.ts';
import { statusCommand } from './commands/status.ts';
import { tenantCommands } from './commands/tenant.ts';
import { trustCommands } from './commands/trust.ts';
import { verifyCommand } from './commands/verify.ts';
import { EXIT, type Exit, explain, UsageError } from './output.ts';

/** Runs `tally` with its arguments. Resolves to the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  process.stdout.on('error', ignoreClosedPipe);
  process.stderr.on('error', ignoreClosedPipe);
  let exit: Exit = EXIT.ok;
  const program = new TallyCommand('tally')
    .description('Signed receipts for AI calls and machine work that anyone can check, offline, years later.')
    .version(VERSION)
    .configureOutput({ outputError: () => {} })
    .exitOverride()
    // Else `tally anchor get x --json` would give --json to `tally anchor`.
    .enablePositionalOptions()
    .addHelpText('after', HELP);
  serviceCommands(program);
  receiptCommands(program);
  const finish = (code: Exit): void => {
    exit = code;
  };
  verifyCommand(program, finish);
  meterCommands(program, finish);
  routeCommands(program, finish);
  compressCommand(program);
  rosettaCommands(program);
  prospectorCommands(program, finish);
  statusCommand(program, finish);
  anchorCommands(program);
  documentCommands(program);
  keyCommands(program);
  trustCommands(program);
  logCommands(program, finish);
  apiKeyCommands(program);
  tenantCommands(program);
  evidenceCommands(program, finish);
  ledgerCommands(program, finish);
  orderCommands(program);
  payoutCommands(program, finish);
  devCommands(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exit;
  } catch (error) {
    const json = args.includes('--json');
    if (!(error instanceof CommanderError)) return explain(error, json);
    if (error.exitCode === 0) return EXIT.ok;
    // A group without a command has printed its help.
    return error.code === 'commander.help' ? EXIT.usage : explain(misuse(error, program, args), json);
  }
}

const HELP = `
Exit status: 0 done (valid and trusted), 1 failed (invalid), 2 wrong usage, 3 intact but issuer not trusted.

A first tour:
  $ tally serve                                  in another terminal
  $ tally mint --text hello --out receipt.json
  $ tally trust fetch
  $ tally verify receipt.json`;

/** `tally inspect x | head -1` closes the pipe early: the rest is not wanted, and that is no failure. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

function misuse({ message }: CommanderError, program: Command, args: readonly string[]): UsageError {
  const text = message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ');
  return new UsageError(
    `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.)?]$/.test(text) ? '' : '.'} See: ${nearest(program, args)} --help`,
  );
}

/** The command that the arguments lead to, as it is typed. */
function nearest(program: Command, args: readonly string[]): string {
  let command = program;
  let path = program.name();
  for (const arg of args) {
    const next = command.commands.find((candidate) => candidate.name() === arg);
    if (next === undefined) break;
    command = next;
    path += ` ${next.name()}`;
  }
  return path;
}
