import { cpus, totalmem } from 'node:os';

/** Describes the machine and the versions with which a number was measured. */
export function machine(): string {
  const [cpu] = cpus();
  const { node, openssl } = process.versions;
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpu?.model.trim() ?? 'unknown processor'}, ${cpus().length} cores, ${memory} GiB; Node ${node}, OpenSSL ${openssl}, SQLite ${process.versions.sqlite}`;
}

/** The middle value; of an even number of values, the lower of the two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}
