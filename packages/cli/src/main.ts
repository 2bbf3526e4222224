import { type Command, CommanderError } from 'commander';
import { EXIT, type Exit, explain, UsageError } from './output.ts';
import { createProgram } from './program.ts';

/** Runs `tally` with its arguments. Resolves to the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  process.stdout.on('error', ignoreClosedPipe);
  process.stderr.on('error', ignoreClosedPipe);
  const json = args.includes('--json');
  let exit: Exit = EXIT.ok;
  try {
    const program = await createProgram(args, (code) => {
      exit = code;
    });
    if (args.length === 0) program.outputHelp();
    else await parse(program, args);
    return exit;
  } catch (error) {
    if (!(error instanceof CommanderError)) return explain(error, json);
    // A group without a command has printed its help.
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}

/** @throws UsageError for what commander refuses; CommanderError where it has printed help or the version */
async function parse(program: Command, args: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    const isMisuse =
      error instanceof CommanderError && error.exitCode !== 0 && error.code !== 'commander.help';
    throw isMisuse ? misuse(error, program, args) : error;
  }
}

/** Ignores a pipe that is closed early, as by `tally inspect x | head -1`: that is not a failure. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

function misuse({ message }: CommanderError, program: Command, args: readonly string[]): UsageError {
  const text = message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ');
  return new UsageError(
    `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.)?]$/.test(text) ? '' : '.'} See: ${nearest(program, args)} --help`,
  );
}

/** The command that the arguments lead to, as the user would type it. */
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
