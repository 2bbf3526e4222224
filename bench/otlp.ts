import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Door, PEERS, prepaidKey, requireEverything, SHORT } from './gateway.ts';
import { type Loaded, load } from './load.ts';
import {
  asker,
  cpuSeconds,
  LOAD_CORE,
  memory,
  moveToLoadCore,
  pinned,
  readyUrl,
  SERVE,
  SERVER_CORE,
  stop,
} from './processes.ts';
import type { Report } from './report.ts';
import { row } from './row.ts';

const ROUNDS = 15;
const CONNECTIONS = 64;
const LOAD_SECONDS = 2;
const NAMES = ['off', 'on'] as const;

type Name = (typeof NAMES)[number];
type Round = Readonly<Record<Name, Loaded & { readonly microseconds: number }>>;

/** Calls of models through the service with OpenTelemetry on, and with it off: every trace is kept and sent. */
export async function otlp(): Promise<Report> {
  moveToLoadCore();
  const folder = mkdtempSync(join(tmpdir(), 'tally-bench-'));
  const upstream = pinned([PEERS], {}, LOAD_CORE);
  const collector = pinned(['bench/otlp-collector.ts'], {}, LOAD_CORE);
  const upstreamUrl = await readyUrl(upstream);
  const collectorUrl = await readyUrl(collector);
  const ask = asker(collector);
  const serve = (name: Name, env: Record<string, string>) =>
    pinned(SERVE, {
      PORT: '0',
      TALLY_DATA_DIR: join(folder, name),
      TALLY_DEVNET: 'off',
      OPENAI_BASE_URL: `${upstreamUrl}/v1`,
      OPENAI_API_KEY: 'benchmark',
      ...env,
    });
  const services = { off: serve('off', {}), on: serve('on', { OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl }) };
  try {
    const doorOf = async (name: Name): Promise<Door> => ({
      url: await readyUrl(services[name]),
      path: '/v1/compute/chat/completions',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${prepaidKey(join(folder, name))}`,
      },
    });
    const doors = { off: await doorOf('off'), on: await doorOf('on') };
    for (const name of NAMES) await requireEverything(doors[name]);
    const loaded = async (name: Name): Promise<Round[Name]> => {
      const { url, path, headers } = doors[name];
      const before = cpuSeconds(services[name]);
      const target = { path, body: SHORT };
      const requests = { method: 'POST', headers, connections: CONNECTIONS, target } as const;
      const result = await load(url, requests, { duration: LOAD_SECONDS });
      return { ...result, microseconds: ((cpuSeconds(services[name]) - before) / result.answered) * 1e6 };
    };
    const rounds: Round[] = [];
    let called = 0;
    for (let number = 0; number <= ROUNDS; number++) {
      process.stderr.write(number === 0 ? 'warming up …\n' : `round ${number} of ${ROUNDS} …\n`);
      // Whichever comes second finds the caches as the other left them, so that they take turns.
      const [first, second] = number % 2 === 0 ? NAMES : NAMES.toReversed();
      const measured = { [first]: await loaded(first), [second]: await loaded(second) };
      const round = measured as Round;
      called += round.on.answered;
      if (number > 0) rounds.push(round);
    }
    const resident = { off: memory(services.off, 'VmRSS'), on: memory(services.on, 'VmRSS') };
    // What waits is sent when the service ends.
    await stop(services.on);
    const traced = await ask<number>({});
    return {
      title: 'OpenTelemetry: calls of models with traces and metrics sent, beside none',
      method:
        `${ROUNDS} rounds after one that is thrown away, interleaved; both services on core ${SERVER_CORE}, upstream, ` +
        `collector and client on core ${LOAD_CORE}; ${CONNECTIONS} connections, prompts of 200 bytes, every trace kept; medians, rounds in brackets.`,
      rows: [
        ...NAMES.flatMap((name) => [
          row(rounds, `OTLP ${name}`, '/s', (round) => round[name].rate),
          row(rounds, `OTLP ${name}, p99`, 'ms', (round) => round[name].p99),
          row(rounds, `OTLP ${name}, CPU a request`, 'µs', (round) => round[name].microseconds),
          { name: `OTLP ${name}, memory after the load`, value: resident[name], unit: 'MB' },
        ]),
        row(rounds, 'on / off', '', ({ on, off }) => on.rate / off.rate, { at_least: 0.9 }),
        row(rounds, 'on / off, CPU a request', '', ({ on, off }) => on.microseconds / off.microseconds),
        { name: 'traces at the collector / calls', value: traced / called, unit: '' },
      ],
    };
  } finally {
    await stop(upstream, collector, ...Object.values(services));
    rmSync(folder, { recursive: true, force: true });
  }
}
