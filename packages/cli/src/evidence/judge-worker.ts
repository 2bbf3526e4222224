import { readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import {
  type BundlePart,
  EvidenceFault,
  type EvidenceReason,
  type JudgedPart,
  PartJudge,
  parseWitnessPolicy,
  type SharedTerms,
  trustOfBundle,
} from '@tallystick/core';
import { nodeSha256 } from '../meter/sha256.ts';

/** What a thread judges by. */
export interface JudgeStart extends SharedTerms {
  /** The open file of the bundle, which all threads of the process read. */
  readonly descriptor: number;
  readonly size: number;
  /** Unix milliseconds. */
  readonly now: number;
  /** The witness policy as it was read; null without one. */
  readonly policy: Uint8Array | null;
}

/** What was found of a part; else why the bundle is refused, or what failed. */
export type PartOutcome =
  | { readonly judged: JudgedPart }
  | { readonly reason: EvidenceReason; readonly message: string; readonly path: string | null }
  | { readonly failure: string };

if (parentPort !== null) {
  const port = parentPort;
  const { descriptor, size, now, policy, period, trust } = workerData as JudgeStart;
  const read = async (from: number, to: number): Promise<Uint8Array> => {
    const bytes = Buffer.allocUnsafeSlow(to - from);
    for (let at = 0; at < bytes.length; ) {
      const count = readSync(descriptor, bytes, at, bytes.length - at, from + at);
      if (count === 0) throw new EvidenceFault('zip_end', 'The file became shorter while it was read.');
      at += count;
    }
    return bytes;
  };
  const judge = new PartJudge(
    { size, read },
    {
      period,
      now,
      trust: trustOfBundle(trust),
      sha256: nodeSha256,
      ...(policy !== null && { witnessPolicy: parseWitnessPolicy(policy) }),
    },
  );
  port.on(
    'message',
    (part: BundlePart) => void outcomeOf(judge, part).then((outcome) => port.postMessage(outcome)),
  );
}

async function outcomeOf(judge: PartJudge, part: BundlePart): Promise<PartOutcome> {
  try {
    return { judged: await judge.judge(part) };
  } catch (error) {
    if (!(error instanceof EvidenceFault)) return { failure: String(error) };
    const { reason, message, path } = error;
    return { reason, message, path };
  }
}
