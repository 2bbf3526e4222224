import type { Times } from './alone.ts';
import type { Loaded } from './load.ts';
import { LOAD_CORE, SERVER_CORE } from './processes.ts';
import type { Report, Row } from './report.ts';
import { row } from './row.ts';

/** One value for each of the compared gateways. */
export interface Gateways<T> {
  readonly bare: T;
  /** Lean proxy that only signs and stores: see gateway-floor.ts. */
  readonly floor: T;
  /** The lean proxy with the service's own parts for the rest of a call's work: see gateway-work.ts. */
  readonly work: T;
  readonly tally: T;
  readonly portkey: T;
}

/** Times on one connection, without a gateway and with one. */
export type Alone = Readonly<Record<'direct' | 'bare' | 'tally', Times>>;
type AloneInAll = Alone & Readonly<Record<'floor' | 'work' | 'portkey', Times>>;

/** Results of one round. */
export interface GatewayRound {
  /** `microseconds` is the CPU time of the gateway's process per request. */
  readonly load: Gateways<Loaded & { readonly microseconds: number }>;
  readonly short: AloneInAll;
  readonly long: AloneInAll;
  readonly stream: Alone;
  /** Number of cores that other processes than the benchmark's used. */
  readonly others: number;
}

const NAMES = {
  bare: 'bare proxy',
  floor: 'lean Node proxy',
  work: 'lean Node proxy with the service’s work',
  tally: 'tallystick',
  portkey: 'Portkey',
} as const;
const ALL = ['bare', 'floor', 'work', 'tally', 'portkey'] as const;

/** @param resident resident memory after the load, in MB */
export function gatewayReport(
  rounds: readonly GatewayRound[],
  resident: Gateways<number>,
  connections: number,
  calls: number,
): Report {
  const rates = ALL.flatMap((name) => [
    row(rounds, NAMES[name], '/s', ({ load }) => load[name].rate),
    row(rounds, `${NAMES[name]}, p99`, 'ms', ({ load }) => load[name].p99),
    row(rounds, `${NAMES[name]}, CPU a request`, 'µs', ({ load }) => load[name].microseconds),
  ]);
  return {
    title: 'Gateway: everything on (API key, routing, ledger, signed durable receipt)',
    method:
      `${rounds.length} rounds after one that is thrown away, interleaved; gateways on core ${SERVER_CORE}, upstream and client on ` +
      `core ${LOAD_CORE}; medians, rounds in brackets. Rates at ${connections} connections with a prompt of 200 bytes. Added: the p50 of ` +
      `${calls} calls on one connection less that of the same calls straight to the upstream.`,
    rows: [
      ...rates,
      row(rounds, 'tallystick / Portkey', '', ({ load }) => load.tally.rate / load.portkey.rate, {
        at_least: 4,
      }),
      row(
        rounds,
        'gateway CPU a call / lean Node proxy',
        '',
        ({ load }) => load.tally.microseconds / load.floor.microseconds,
        { at_most: 2 },
      ),
      row(
        rounds,
        'gateway CPU a call / lean Node proxy with the service’s work',
        '',
        ({ load }) => load.tally.microseconds / load.work.microseconds,
      ),
      row(rounds, 'lean Node proxy / Portkey', '', ({ load }) => load.floor.rate / load.portkey.rate),
      row(rounds, 'p99, tallystick / Portkey', '', ({ load }) => load.tally.p99 / load.portkey.p99, {
        at_most: 1,
      }),
      row(rounds, 'tallystick / bare proxy', '', ({ load }) => load.tally.rate / load.bare.rate, {
        at_least: 0.4,
      }),
      row(rounds, 'straight to the upstream, 200 B, p50', 'ms', ({ short }) => short.direct.answer),
      ...added(
        rounds,
        'added to a prompt of 200 B',
        ALL,
        ({ short }, name) => short[name].answer - short.direct.answer,
      ),
      ...added(
        rounds,
        'added to a prompt of 40 kB',
        ALL,
        ({ long }, name) => long[name].answer - long.direct.answer,
      ),
      ...added(
        rounds,
        'added to the first byte of a stream',
        ['bare', 'tally'],
        ({ stream }, name) => stream[name].firstByte - stream.direct.firstByte,
      ),
      ...ALL.map((name): Row => {
        const aim = name === 'tally' ? { aim: { at_most: 200 } } : {};
        return { name: `${NAMES[name]}, memory after the load`, value: resident[name], unit: 'MB', ...aim };
      }),
      row(rounds, 'cores taken by others meanwhile', '', ({ others }) => others),
    ],
  };
}

function added<Name extends keyof Gateways<unknown>>(
  rounds: readonly GatewayRound[],
  what: string,
  names: readonly Name[],
  of: (round: GatewayRound, name: Name) => number,
): Row[] {
  return names.map((name) => {
    const aim = name === 'tally' ? { at_most: 1 } : undefined;
    return row(rounds, `${what}, ${NAMES[name]}`, 'ms', (one) => of(one, name), aim);
  });
}
