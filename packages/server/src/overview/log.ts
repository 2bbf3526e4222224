import { checkCosignature, formatTimestamp } from '@tallystick/core';
import { nodeEngine, type Operations } from '@tallystick/kit';
import type { Services } from '../services.ts';

/** How the anchor log is, who leads it, and what its witnesses cosigned last. */
export async function logDocument({ log, config }: Pick<Services, 'log' | 'config'>, found: Operations) {
  const status = await log.status();
  const { logLease, postings } = found;
  return {
    origin: log.origin,
    accepted: status.accepted,
    size: status.treeSize,
    anchored: status.anchoredSize,
    oldest_unanchored_seconds: status.oldestUnanchoredSeconds,
    overdue_seconds: status.overdueSeconds,
    next_posting_at: config.chain.rpcUrl === null && !config.chain.devnet ? null : at(status.nextPostingAt),
    accepting: status.accepting,
    posting: status.posting,
    leading: status.leading,
    leader:
      logLease === null ? null : { holder: logLease.holder, lease_seconds: Math.round(logLease.seconds) },
    open_postings: postings,
    witnesses: await Promise.all(
      config.log.witnesses.map(async (witness) => ({
        name: witness.name,
        url: witness.url,
        ...(await newestCosignature(witness, found.checkpoints)),
      })),
    ),
  };
}

/** The newest of the checkpoints that the witness cosigned. */
async function newestCosignature(
  witness: Parameters<typeof checkCosignature>[1],
  checkpoints: Operations['checkpoints'],
): Promise<{ cosigned_size: number | null; cosigned_at: string | null }> {
  for (const { size, note } of checkpoints) {
    const time = await checkCosignature(note, witness, nodeEngine);
    if (time !== null) return { cosigned_size: size, cosigned_at: at(time) };
  }
  return { cosigned_size: null, cosigned_at: null };
}

const at = (unixSeconds: number): string => formatTimestamp(unixSeconds * 1_000);
