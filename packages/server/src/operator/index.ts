/** `@tallystick/server/operator`: the operator's commands of `tally`, which `tally` loads by this name. */
import type { Command, Exit, Operator } from '@tallystick/cli/toolkit';
import { apiKeyCommands } from './commands/apikey.ts';
import { catalogueCommands } from './commands/catalogue.ts';
import { compressCommand } from './commands/compress.ts';
import { configCommands } from './commands/config.ts';
import { devCommands } from './commands/dev.ts';
import { keyringCommands } from './commands/keys.ts';
import { ledgerCommands } from './commands/ledger.ts';
import { logCommands } from './commands/log.ts';
import { operatorKeyCommands } from './commands/operator-key.ts';
import { orderCommands } from './commands/orders.ts';
import { payoutCommands } from './commands/payouts.ts';
import { prospectorCommands } from './commands/prospector.ts';
import { rosettaCommands } from './commands/rosetta.ts';
import { routeCommands } from './commands/route.ts';
import { serviceCommands } from './commands/service.ts';
import { tenantCommands } from './commands/tenant.ts';
import { bundleCommands } from './commands/trust.ts';

/** See `Operator`. */
export function addCommands(program: Command, finish: (exit: Exit) => void): void {
  const group = (name: string): Command => {
    const found = program.commands.find((command) => command.name() === name);
    if (found === undefined) throw new Error(`tally has no group ${name}.`);
    return found;
  };
  serviceCommands(program, finish);
  configCommands(program, finish);
  apiKeyCommands(program);
  operatorKeyCommands(program);
  tenantCommands(program);
  devCommands(program);
  ledgerCommands(program, finish);
  orderCommands(program);
  payoutCommands(program, finish);
  catalogueCommands(program, finish);
  routeCommands(program, finish);
  compressCommand(program);
  rosettaCommands(program);
  prospectorCommands(program, finish);
  keyringCommands(group('keys'));
  bundleCommands(group('trust'));
  logCommands(group('log'), finish);
}

/** See `Operator`. */
export async function printLocalCheckpoint(json: boolean): Promise<void> {
  await (await import('./log.ts')).checkpoint(json);
}

({ addCommands, printLocalCheckpoint }) satisfies Operator;
