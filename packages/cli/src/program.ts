import { VERSION } from '@tallystick/core';
import { TallyCommand } from './command.ts';
import { anchorCommands } from './commands/anchor.ts';
import { attestCommands } from './commands/attest.ts';
import { callCommands } from './commands/calls.ts';
import { completionCommands } from './commands/completion.ts';
import { correctionCommands } from './commands/corrections.ts';
import { documentCommands } from './commands/documents.ts';
import { evidenceCommands } from './commands/evidence.ts';
import { hookCommands } from './commands/hooks.ts';
import { keyCommands } from './commands/keys.ts';
import { logCommands } from './commands/log.ts';
import { mcpCommands } from './commands/mcp.ts';
import { meterCommands } from './commands/meter.ts';
import { receiptCommands } from './commands/receipts.ts';
import { sessionCommands } from './commands/session.ts';
import { statusCommand } from './commands/status.ts';
import { trustCommands } from './commands/trust.ts';
import { verifyCommand } from './commands/verify.ts';
import { webhookCommands } from './commands/webhooks.ts';
import { addOperatorCommands } from './operator.ts';
import type { Exit } from './output.ts';

/**
 * Creates `tally` with the commands that its arguments may lead to, those of the server's package among them.
 * @param finish called with the exit code of a command if it is not 0
 */
export async function createProgram(
  args: readonly string[],
  finish: (exit: Exit) => void,
): Promise<TallyCommand> {
  const program = new TallyCommand('tally')
    .description('Signed receipts for AI calls and machine work that anyone can check, offline, years later.')
    .version(VERSION)
    .configureOutput({ outputError: () => {} })
    .exitOverride()
    // Without this, `tally anchor get x --json` would give --json to `tally anchor`.
    .enablePositionalOptions()
    .addHelpText('after', HELP);
  program.commandsGroup('Receipts:');
  receiptCommands(program);
  verifyCommand(program, finish);
  documentCommands(program);
  correctionCommands(program);
  meterCommands(program, finish);
  evidenceCommands(program, finish);
  attestCommands(program, finish);
  sessionCommands(program, finish);
  hookCommands(program);
  mcpCommands(program);
  program.commandsGroup('A service, from outside:');
  anchorCommands(program);
  callCommands(program);
  webhookCommands(program);
  logCommands(program, finish);
  statusCommand(program, finish);
  program.commandsGroup('Trust and keys:');
  trustCommands(program, finish);
  keyCommands(program);
  await addOperatorCommands(program, args, finish);
  program.commandsGroup('More:');
  completionCommands(program);
  program.helpCommand('help [command]', 'display help for command');
  return program;
}

const HELP = `
Exit status: 0 done (valid and trusted), 1 failed (invalid), 2 wrong usage,
3 intact but issuer not trusted.

A first tour:
  $ tally serve                                  in another terminal
  $ tally mint --text hello --out receipt.json
  $ tally trust fetch
  $ tally verify receipt.json`;
