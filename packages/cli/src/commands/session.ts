import type { SaltedPart } from '@tallystick/core';
import { Argument, type Command, Option } from 'commander';
import { apiKeyOption } from '../api-key.ts';
import type { Exit } from '../output.ts';
import { urlOption } from '../service.ts';
import type { AnchorSessionOptions } from '../session/anchor.ts';
import { type SigningOptions, signingOptions } from '../session/issuer.ts';
import type { OpenValueOptions } from '../session/open-value.ts';
import type { RecordOptions } from '../session/record.ts';
import type { VerifySessionsOptions } from '../session/verify.ts';
import { trustOptions } from '../verify-options.ts';

/** `tally session`: receipts of an agent's tool calls, in order. What a command needs is loaded when it runs. */
export function sessionCommands(program: Command, finish: (exit: Exit) => void): void {
  const session = program
    .command('session')
    .summary('record and verify an agent’s session')
    .description('Sessions: receipts of an agent’s tool calls, in an order that shows what is missing.');
  recording(session);
  reading(session);
  trustOptions(
    session
      .command('verify')
      .argument(
        '<file>',
        'the session, a receipt a line; a folder of such files; a URL; or - for standard input',
      )
      .summary('verify a session, offline')
      .description(
        'Verifies each receipt of a session, their order and their one key, and shows what was recorded. Of a folder it verifies every file whose name ends with .jsonl.',
      ),
  )
    .option('--key <key>', 'the key that the session must have: a did:key, or 32 bytes in base64url')
    .option('--referenced <files...>', 'receipts that the session refers to')
    .option('--opening <files...>', 'values that were opened, as tally session open writes them')
    .option('--as-of <time>', 'verify as of this UTC time (YYYY-MM-DDThh:mm:ssZ) instead of now')
    .addOption(urlOption())
    .addOption(apiKeyOption())
    .option('-q, --quiet', 'only the verdict, and what is wrong')
    .option('--json', 'the verdict as JSON')
    .addHelpText('after', VERIFY_HELP)
    .action(async (path: string, options: VerifySessionsOptions) =>
      finish(await (await import('../session/verify.ts')).verifySessions(path, options)),
    );
}

const VERIFY_HELP = `
Exit status, of several files the worst (1, then 3):
  0  valid, and the key is trusted
  1  not valid: a receipt is missing, doubled, moved, edited, or of another key;
     or an opened value is not the one that was recorded
  2  wrong usage, or a file that can't be read
  3  intact, but the key is not trusted

Of an open session nobody can see whether its newest receipts were cut off.
The API key is sent only to a URL of the service that --url names.

Examples:
  $ tally session verify session.jsonl --key did:key:z6Mk…
  $ tally session verify session.jsonl --referenced call-1.json
  $ tally session verify sessions/ --quiet`;

/** The commands that sign. */
function recording(session: Command): void {
  signingOptions(
    session
      .command('new')
      .argument('[file]', 'where to keep it (a new file in $TALLY_HOME/sessions)')
      .summary('open a session, and print its id')
      .description('Opens a session and leaves it open. A closed one in the file is continued in <file>-2.'),
  )
    .option('--json', 'id and file as JSON')
    .action(async (file: string | undefined, options: SigningOptions & { json?: boolean }) =>
      (await import('../session/record.ts')).newSession(file, options),
    );
  signingOptions(
    session
      .command('record')
      .argument('<file>', 'the session; it is opened if there is none')
      .summary('record one call, and print its receipt')
      .description(
        'Records a call that is over. The receipt has the hashes of arguments and result, never themselves.',
      ),
  )
    .requiredOption('--tool <name>', 'what was called')
    .option('--server <name>', 'what the tool is of', 'shell')
    .option('--arguments <json>', 'its arguments: JSON, or @<file>')
    .option('--result <json>', 'its result: JSON, or @<file>')
    .addOption(
      new Option('--outcome <outcome>', 'how it ended')
        .choices(['completed', 'error', 'denied', 'cancelled', 'unknown'])
        .default('completed'),
    )
    .action(async (file: string, options: RecordOptions) =>
      (await import('../session/record.ts')).recordCall(file, options),
    );
  signingOptions(
    session
      .command('close')
      .argument('<file>', 'the session')
      .summary('close a session, and print its last receipt')
      .description('Closes a session: from then on a verifier sees if its end is missing.'),
  ).action(async (file: string, options: SigningOptions) =>
    (await import('../session/record.ts')).closeSession(file, options),
  );
}

/** The commands that read a session, or add what nobody signs. */
function reading(session: Command): void {
  session
    .command('show')
    .argument('<file>', 'the session, or - for standard input')
    .summary('show what was recorded, without judging it')
    .description('Shows what the receipts of a session say. It verifies nothing.')
    .option('--json', 'as JSON')
    .action(async (file: string, options: { json?: boolean }) =>
      (await import('../session/show.ts')).showSession(file, options),
    );
  session
    .command('open')
    .argument('<file>', 'the session; its salt is beside it')
    .argument('<seq>', 'number of the receipt')
    .addArgument(new Argument('<part>', 'which of its values').choices(['arguments', 'result']))
    .summary('make the document that opens one value')
    .description(
      'Makes the document by which anybody can check one value of a session. It tells nothing of the others.',
    )
    .requiredOption('--value <file>', 'the value, as it was recorded')
    .option('--out <file>', 'write the document to a file')
    .action(async (file: string, seq: string, part: SaltedPart, options: OpenValueOptions) =>
      (await import('../session/open-value.ts')).openValue(file, seq, part, options),
    );
  session
    .command('anchor')
    .argument('<file>', 'the session')
    .summary('anchor the newest receipt')
    .description(
      'Has the hash of the newest receipt anchored, waits for the proof, and puts it into the file. Up to there, nothing can be changed without contradicting the anchor. Only the hash leaves this machine.',
    )
    .addOption(urlOption())
    .addOption(apiKeyOption())
    .option('--json', 'what was anchored, as JSON')
    .action(async (file: string, options: AnchorSessionOptions) =>
      (await import('../session/anchor.ts')).anchorSession(file, options),
    );
}
