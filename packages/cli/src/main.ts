import { Command, CommanderError } from 'commander';
import { documentCommands } from './commands/documents.ts';
import { keyCommands } from './commands/keys.ts';
import { receiptCommands } from './commands/receipts.ts';
import { serviceCommands } from './commands/service.ts';
import { trustCommands } from './commands/trust.ts';
import { verifyCommand } from './commands/verify.ts';
import { EXIT, type Exit, explain } from './output.ts';

const VERSION = '0.1.0';

/** Runs `tally` with its arguments. Resolves to the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  let exit: Exit = EXIT.ok;
  const program = new Command('tally')
    .description('Signed receipts for AI calls and machine work that anyone can check, offline, years later.')
    .version(VERSION)
    .showHelpAfterError('(tally --help lists the commands)')
    .exitOverride();
  serviceCommands(program);
  receiptCommands(program);
  verifyCommand(program, (code) => {
    exit = code;
  });
  documentCommands(program);
  keyCommands(program);
  trustCommands(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return explain(error, args.includes('--json'));
  }
}
