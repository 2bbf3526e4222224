import type { Command } from 'commander';
import { type Exit, UsageError } from './output.ts';

/** The package with the commands for operators of a service. */
const PACKAGE = '@tallystick/server';
const MODULE = `${PACKAGE}/operator`;

/** The exports of that package for `tally`. */
export interface Operator {
  /** Adds all the commands below to the program and its groups. `finish` takes an exit status other than 0. */
  addCommands(program: Command, finish: (exit: Exit) => void): void;
  /** Prints the newest checkpoint from the service's data on this machine. */
  printLocalCheckpoint(json: boolean): Promise<void>;
}

/** Names and summaries of commands, by the heading under which the help lists them. */
type Listing = Readonly<Record<string, Readonly<Record<string, string>>>>;

const PROGRAM: Listing = {
  'Run a service': {
    serve: 'run the service',
    config: 'check the configuration',
    reload: 'take up changed models, prices and keys',
    backup: 'copy the database while it is in use',
    apikey: 'the service’s API keys',
    'operator-key': 'keys of the operator’s page',
    tenant: 'the service’s tenants',
    dev: 'test money of the development chain',
  },
  'The money of a service': {
    ledger: 'prepaid balances and the books',
    orders: 'keys bought on the chain',
    withdrawals: 'withdrawals that callers requested',
    refunds: 'transfers that could not be used',
  },
  'Model calls': {
    route: 'explain why a call went to its model',
    compress: 'compress a conversation, or a text, offline',
    catalogue: 'take prices from a price list, and check a provider’s invoice',
  },
  Pilots: {
    rosetta: 'compare a policy with other jurisdictions (pilot)',
    prospector: 'check whether a surface is ready (pilot)',
  },
};

/** Operators' commands in groups that also have commands for everybody. */
const GROUPS: Readonly<Record<string, Listing>> = {
  keys: {
    'Keys of the service on this machine': {
      init: 'make the service’s keyring',
      list: 'list the service’s keys',
      rotate: 'replace a key of the service',
      pq: 'make a key for second signatures of pq receipts',
      revoke: 'revoke a key of the service',
      passphrase: 'encrypt the keyring with another passphrase',
    },
  },
  trust: {
    'Trust bundle of the service on this machine': {
      draft: 'write the next bundle, unsigned',
      sign: 'sign a draft with the root key',
      publish: 'publish a signed bundle',
      approve: 'mark a registered issuer as verified',
    },
  },
  log: {
    'Keep a log, or keep it honest': {
      fsck: 'recompute the log on this machine from its leaves',
      witness: 'run a witness that cosigns logs',
      monitor: 'follow a log from outside',
    },
  },
};

/**
 * Adds one of the commands above, with its summary and its heading in the help, for the package that implements it.
 * @param parent the program, or one of the groups
 */
export function operatorCommand(parent: Command, name: string): Command {
  for (const [heading, commands] of Object.entries(listingOf(parent))) {
    const summary = commands[name];
    if (summary !== undefined) return parent.command(name).summary(summary).helpGroup(`${heading}:`);
  }
  throw new Error(`${name} is not listed as a command of ${PACKAGE}.`);
}

/**
 * Completes a program with the commands of the server's package: the commands themselves if the arguments lead to
 * one, else their entries in the help. For any other command, that package is not loaded.
 */
export async function addOperatorCommands(
  program: Command,
  args: readonly string[],
  finish: (exit: Exit) => void,
): Promise<void> {
  const operator = leadsToOperator(program, args) ? await loadOperator() : null;
  if (operator === null) addPlaces(program);
  else operator.addCommands(program, finish);
}

/** Loads the server's package for a command that needs it. @throws UsageError if it is not installed */
export async function requireOperator(command: string): Promise<Operator> {
  const operator = await loadOperator();
  if (operator === null) throw absent(command);
  return operator;
}

function listingOf(parent: Command): Listing {
  return (parent.parent === null ? PROGRAM : GROUPS[parent.name()]) ?? {};
}

function leadsToOperator(program: Command, args: readonly string[]): boolean {
  const words = args.filter((arg) => !arg.startsWith('-'));
  const isAbout = words[0] === 'help' || words[0] === 'complete';
  const [first = '', second = ''] = isAbout ? words.slice(1) : words;
  if (Object.values(PROGRAM).some((commands) => Object.hasOwn(commands, first))) return true;
  const group = Object.hasOwn(GROUPS, first) && program.commands.find((command) => command.name() === first);
  return group ? !group.commands.some((command) => command.name() === second) : false;
}

async function loadOperator(): Promise<Operator | null> {
  return isInstalled() ? ((await import(MODULE)) as Operator) : null;
}

function isInstalled(): boolean {
  try {
    return import.meta.resolve(MODULE) !== '';
  } catch {
    return false;
  }
}

/** Lists the commands in the help. If the package is absent, each says how to install it, whatever its arguments. */
function addPlaces(program: Command): void {
  const mark = isInstalled() ? '' : ` (with ${PACKAGE}, which is not installed)`;
  const parents = [program, ...program.commands.filter((command) => Object.hasOwn(GROUPS, command.name()))];
  for (const parent of parents) {
    for (const [heading, commands] of Object.entries(listingOf(parent))) {
      for (const name of Object.keys(commands)) {
        const path = [parent.parent === null ? 'tally' : `tally ${parent.name()}`, name].join(' ');
        operatorCommand(parent, name)
          .helpGroup(`${heading}${mark}:`)
          .helpOption(false)
          .allowUnknownOption()
          .allowExcessArguments()
          .action(() => {
            throw absent(path);
          });
      }
    }
  }
}

function absent(command: string): UsageError {
  return new UsageError(
    `\`${command}\` comes with ${PACKAGE}. Install it with: npm install ${PACKAGE} (with -g, if tally is)`,
  );
}
