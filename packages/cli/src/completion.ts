import type { Command, Option } from 'commander';

/** A completion at a place of a command line. */
interface Candidate {
  readonly text: string;
  readonly summary: string;
}

/**
 * Completions of the last word: commands, options, or the choices of an option. None if it is
 * a text or a file, which the shell completes itself.
 * @param words the command line after `tally`; the last may be empty
 */
export function candidates(program: Command, words: readonly string[]): Candidate[] {
  const begun = words.at(-1) ?? '';
  const { command, before } = commandAt(program, words.slice(0, -1));
  return offers(command, begun, before).filter(({ text }) => text.startsWith(begun));
}

function offers(command: Command, begun: string, before: string | undefined): Candidate[] {
  const waiting = before === undefined ? undefined : optionNamed(command, before);
  if (waiting?.required) return choices(waiting.argChoices);
  if (begun.startsWith('-')) return command.createHelp().visibleOptions(command).map(optionOffer);
  const argument = command.registeredArguments[0];
  return [
    ...command.createHelp().visibleCommands(command).map(commandOffer),
    ...(argument?.argChoices && before === undefined ? choices(argument.argChoices) : []),
  ];
}

/** The command that the words lead to, and the last word after its name. */
function commandAt(program: Command, words: readonly string[]) {
  let command = program;
  let before: string | undefined;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    before = next === undefined ? word : undefined;
    command = next ?? command;
  }
  return { command, before };
}

function optionNamed(command: Command, flag: string): Option | undefined {
  return command.options.find(({ long, short }) => flag === long || flag === short);
}

function optionOffer({ long, short, description }: Option): Candidate {
  return { text: long ?? short ?? '', summary: description };
}

function commandOffer(command: Command): Candidate {
  return { text: command.name(), summary: command.summary() || command.description() };
}

function choices(texts: readonly string[] = []): Candidate[] {
  return texts.map((text) => ({ text, summary: '' }));
}
