import type { Loaded } from './load.ts';
import { LOAD_CORE, SERVER_CORE } from './processes.ts';
import type { Report } from './report.ts';
import { row } from './row.ts';

export const ROUNDS = 5;
export const LEAVES = 1_000_000;
export const CONNECTIONS = 64;
/** Hashes per request, and concurrent connections. */
export const BATCH = { hashes: 1000, connections: 2 };
export const LARGEST = { hashes: 10_000, connections: 1 };
/** Number of requests that share a transaction when single hashes come over 64 connections. */
export const SHARED = 50;

export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

export interface WithCpu extends Loaded {
  /** CPU time of the server in microseconds per request. */
  readonly microseconds: number;
}

/** Results of one round: rates a second, seconds, or milliseconds from request to answer. */
export interface Round {
  readonly rawSingle: number;
  readonly bare: Loaded;
  readonly single: WithCpu;
  readonly rawBatch: number;
  readonly batch: Loaded;
  readonly largest: Loaded;
  readonly hashes: number;
  readonly tree: number;
  readonly proofs: number;
  readonly proofText: WithCpu;
  readonly anchored: WithCpu;
  readonly light: Percentiles;
  readonly heavy: Percentiles;
  /** Number of cores that other processes than the benchmark's used; the development chain counts among them. */
  readonly others: number;
}

export function report(rounds: readonly Round[], filling: number, cold: WithCpu): Report {
  return {
    title: `The anchor log, with ${LEAVES} leaves and more`,
    method:
      `${ROUNDS} rounds, interleaved; server and limits on core ${SERVER_CORE}, the client on core ${LOAD_CORE}, ` +
      `${CONNECTIONS} connections unless said otherwise; medians, rounds in brackets. Every hash that is handed in ` +
      `is new. Reads are of random leaves among the first ${LEAVES}. Raw SQLite is one table with a unique index, ` +
      'set up as the store is and with as many rows, durable at each transaction. The bare server is node:http with ' +
      'JSON in and out.',
    rows: [
      row(rounds, `raw SQLite, ${BATCH.hashes} rows a transaction`, 'hashes/s', ({ rawBatch }) => rawBatch),
      row(
        rounds,
        `batches of ${BATCH.hashes}, ${BATCH.connections} connections`,
        'hashes/s',
        ({ batch }) => batch.rate,
        {
          at_least: 10_000,
        },
      ),
      row(rounds, '  its p99', 'ms', ({ batch }) => batch.p99),
      row(rounds, '  / raw SQLite', '', ({ batch, rawBatch }) => batch.rate / rawBatch),
      row(
        rounds,
        `batches of ${LARGEST.hashes}, one after the other`,
        'hashes/s',
        ({ largest }) => largest.rate,
        {
          at_least: 10_000,
        },
      ),
      row(rounds, '  its p99', 'ms', ({ largest }) => largest.p99),
      { name: `the first ${LEAVES}, in batches of 10000, once`, value: filling, unit: 'hashes/s' },
      row(rounds, `raw SQLite, ${SHARED} rows a transaction`, 'hashes/s', ({ rawSingle }) => rawSingle),
      row(rounds, 'bare HTTP server', '/s', ({ bare }) => bare.rate),
      row(rounds, 'one by one', 'hashes/s', ({ single }) => single.rate, { at_least: 5000 }),
      row(rounds, '  its p50', 'ms', ({ single }) => single.p50),
      row(rounds, '  its p99', 'ms', ({ single }) => single.p99, { at_most: 250 }),
      row(rounds, '  CPU of the server for each', 'µs', ({ single }) => single.microseconds, {
        at_most: 180,
      }),
      row(rounds, '  / bare server', '', ({ single, bare }) => single.rate / bare.rate),
      row(rounds, '  / raw SQLite', '', ({ single, rawSingle }) => single.rate / rawSingle),
      row(rounds, `raw SHA-256, the ${2 * LEAVES} of a tree`, 's', ({ hashes }) => hashes),
      row(rounds, `tiles and root over ${LEAVES} leaves`, 's', ({ tree }) => tree, { at_most: 3 }),
      row(rounds, '  raw / it', '', ({ hashes, tree }) => hashes / tree),
      row(rounds, 'proofs in process', '/s', ({ proofs }) => proofs),
      row(rounds, 'tlog-proofs over HTTP', '/s', ({ proofText }) => proofText.rate, { at_least: 5000 }),
      row(rounds, '  its p99', 'ms', ({ proofText }) => proofText.p99),
      row(rounds, '  CPU of the server for each', 'µs', ({ proofText }) => proofText.microseconds),
      { name: '  from tiles not read before, once', value: cold.rate, unit: '/s' },
      row(rounds, 'anchored results over HTTP', '/s', ({ anchored }) => anchored.rate, { at_least: 5000 }),
      row(rounds, '  CPU of the server for each', 'µs', ({ anchored }) => anchored.microseconds),
      row(rounds, 'accepted to covered, light load, p50', 'ms', ({ light }) => light.p50),
      row(rounds, 'accepted to covered, light load, p99', 'ms', ({ light }) => light.p99, { at_most: 1000 }),
      row(rounds, `accepted to covered, ${CONNECTIONS} writers, p50`, 'ms', ({ heavy }) => heavy.p50),
      row(rounds, `accepted to covered, ${CONNECTIONS} writers, p99`, 'ms', ({ heavy }) => heavy.p99, {
        at_most: 1000,
      }),
      row(rounds, 'cores taken by others meanwhile', '', ({ others }) => others),
    ],
  };
}
