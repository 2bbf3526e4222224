import { AggregatorRegistry } from 'prom-client';
import type { Snapshot } from './messages.ts';

/** The metrics of several processes as one: each is summed, unless its `aggregator` says otherwise. */
export function summed(snapshots: readonly Snapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate(withoutOmitted(snapshots)).metrics();
}

/**
 * What processes that have ended counted, as the snapshot of one. It stays in the sum: a sum that fell would look like
 * a restart of all, and everything that the others have counted would be counted again.
 */
export async function countedBy(ended: readonly Snapshot[]): Promise<Snapshot> {
  const all = await AggregatorRegistry.aggregate(withoutOmitted(ended)).getMetricsAsJSON();
  // Metrics tell their type by its name, although the declaration has numbers.
  return all.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
}

/** The declaration asks for arrays that can be changed; nothing changes them. */
const withoutOmitted = (snapshots: readonly Snapshot[]): Snapshot[number][][] =>
  snapshots.map((snapshot) => [...snapshot]);
