import { Command, type ParseOptionsResult } from 'commander';

/** 32 bytes (a hash, a public key) or 64 bytes (a signature) as base64url whose first character is `-`. */
const DASHED_VALUE = /^-(?:[\w-]{42}|[\w-]{85})$/;

/**
 * Command whose arguments may be base64url text that begins with `-`, as one hash in 64 does. commander takes such a text
 * for an option. No option has a name of that length, so here the text is an argument.
 */
export class TallyCommand extends Command {
  override createCommand(name?: string): TallyCommand {
    return new TallyCommand(name);
  }

  /** As in commander: `unknown` begins with the first text that looks like an option but is none of this command's. */
  override parseOptions(args: string[]): ParseOptionsResult {
    const { operands, unknown } = super.parseOptions(args);
    if (!DASHED_VALUE.test(unknown[0] ?? '')) return { operands, unknown };
    const end = unknown.findIndex((text) => text !== '-' && text.startsWith('-') && !DASHED_VALUE.test(text));
    if (end === -1) return { operands: [...operands, ...unknown], unknown: [] };
    const rest = unknown.slice(end);
    const before = [...operands, ...unknown.slice(0, end)];
    return rest[0] === '--'
      ? { operands: [...before, ...rest.slice(1)], unknown: [] }
      : { operands: before, unknown: rest };
  }
}
