import { join, resolve } from 'node:path';
import { tallyHome } from '@tallystick/sdk/home';
import type { Command } from 'commander';
import { apiKeyOption, requireKey } from '../api-key.ts';
import { AGENTS, type AgentName } from '../hooks/event.ts';
import type { Issuance } from '../hooks/recorded-agent.ts';
import { type HookTarget, settingsFile, withHooks, writeHooks } from '../hooks/settings.ts';
import { printJson, remark } from '../output.ts';
import { serviceUrl } from '../service.ts';
import { anchoringAt } from '../session/anchoring.ts';

interface RecorderCommand {
  readonly socket?: string;
  readonly signAt?: string;
  readonly anchorAt?: string;
  readonly apiKey?: string;
}

interface HookOptions {
  readonly write?: boolean;
  readonly project?: boolean;
  readonly socket?: string;
  readonly service?: string;
}

const NAMES: Readonly<Record<AgentName, string>> = { 'claude-code': 'Claude Code', codex: 'Codex' };

/** How long the recorder that a hook has started waits for an event before it ends. */
const IDLE_MS = 3_600_000;

/** `tally hooks`: receipts of what a coding agent does, built-in tools too. */
export function hookCommands(program: Command): void {
  const hooks = program
    .command('hooks')
    .summary('record a coding agent’s tool uses')
    .description('Receipts of each tool use of a coding agent, built-in tools too, by its own hooks.');
  for (const agent of AGENTS) agentCommand(hooks, agent);
  hooks
    .command('recorder')
    .summary('run the recorder')
    .description(
      'Runs the recorder, to which hooks hand over what the agent does. A hook starts it by itself; run it where its key is to be out of the agent’s reach: as another user.',
    )
    .option('--socket <path>', 'listen there, for members of the socket’s group too, until a signal')
    .option('--sign-at <url>', 'have this service sign, not an own key; needs an API key', serviceUrl)
    .option('--anchor-at <url>', 'have this service anchor the newest receipt each ten minutes', serviceUrl)
    .addOption(apiKeyOption())
    .action(async ({ socket, ...issuing }: RecorderCommand) => {
      const { runRecorder, socketOf } = await import('../hooks/recorder.ts');
      const home = tallyHome();
      const log = (text: string): void => remark(`${new Date().toISOString()} ${text}`);
      const isFirst = await runRecorder({
        folder: join(home, 'sessions'),
        socket: socket === undefined ? socketOf(home) : resolve(socket),
        mode: socket === undefined ? 0o600 : 0o660,
        idleMs: socket === undefined ? IDLE_MS : null,
        issuance: await issuanceOf(issuing, log),
        log,
      });
      if (!isFirst) remark('Another recorder listens there already.');
    });
}

async function issuanceOf(
  { signAt, anchorAt, apiKey }: RecorderCommand,
  log: (text: string) => void,
): Promise<Issuance> {
  if (signAt === undefined && anchorAt === undefined) return {};
  const key = requireKey(apiKey);
  const { createClient } = await import('@tallystick/sdk');
  return {
    ...(signAt !== undefined && { client: createClient({ baseUrl: signAt, apiKey: key }) }),
    ...(anchorAt !== undefined && { anchor: await anchoringAt(anchorAt, key, log) }),
  };
}

function agentCommand(hooks: Command, agent: AgentName): void {
  const file = settingsFile(agent, null);
  hooks
    .command(agent)
    .summary(`record ${NAMES[agent]}`)
    .description(
      `Prints the settings by which ${NAMES[agent]} has each tool use recorded. The sessions are in the folder sessions of TALLY_HOME.`,
    )
    .option(
      '--write',
      `put them into ${agent === 'codex' ? '~/.codex/hooks.json' : '~/.claude/settings.json'}`,
    )
    .option('--project', 'of this project, for you alone, instead of all your projects')
    .option('--socket <path>', 'the socket of a recorder that you run yourself')
    .option('--service <url>', 'the service that the model calls go to', serviceUrl)
    .addHelpText('after', HELP[agent])
    .action(({ write, project, socket, service }: HookOptions) => {
      const target: HookTarget = {
        agent,
        home: resolve(tallyHome()),
        service,
        socket: socket && resolve(socket),
      };
      if (!write) return printJson(withHooks({}, target));
      const path = project ? settingsFile(agent, process.cwd()) : file;
      remark(writeHooks(path, target) ? `${path} has the hooks now.` : `${path} has the hooks already.`);
      if (agent === 'codex')
        remark('Codex runs them once you have looked at them and trust them: /hooks in Codex.');
    });
}

const HELP: Readonly<Record<AgentName, string>> = {
  'claude-code': `
References to model calls need no option: Claude Code says where they go.

Examples:
  $ tally hooks claude-code --write
  $ tally session verify ~/.config/tallystick/sessions --quiet`,
  codex: `
Codex does not tell its hooks where model calls go: name the service for
references to them. Calls of models that a provider serves by Responses
are not referred to, because Codex writes down the provider’s id alone.

Examples:
  $ tally hooks codex --service http://127.0.0.1:8787 --write`,
};
