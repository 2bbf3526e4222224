import { setTimeout as sleep } from 'node:timers/promises';
import { anchoredHash, TallyError, verifyParsed } from '@tallystick/core';
import { serviceAt } from '../service.ts';

/** Pauses between the attempts to read a receipt: that of a call that has just ended may not be stored yet. Milliseconds. */
const PAUSES_MS = [200, 500, 1_000, 2_000];

/** A receipt of a model call, as a session refers to it. */
export interface FetchedReceipt {
  readonly text: string;
  /** `sha256:<hex>`, its anchored hash. */
  readonly sha256: string;
}

/**
 * Reads the receipt of a model call from the service that the agent uses.
 * @param baseUrl as the agent has it: the service's URL, with or without `/v1/compute`
 * @throws TallyError if there is no answer, or no intact receipt with that id
 */
export async function fetchReceipt(baseUrl: string, receiptId: string): Promise<FetchedReceipt> {
  const service = serviceAt(baseUrl.replace(/\/v1\/compute(?:\/.*)?$/, ''), { retries: 0 });
  for (let attempt = 0; ; attempt++) {
    try {
      const { json, text } = await service.get(`/v1/receipt/${receiptId}`);
      const { integrity, receipt_id } = await verifyParsed(json, { now: Date.now() });
      if (!integrity || receipt_id !== receiptId) {
        throw new TallyError('not_a_receipt', `The service’s receipt ${receiptId} is not intact.`);
      }
      return { text, sha256: `sha256:${anchoredHash(json)}` };
    } catch (error) {
      const pause = PAUSES_MS[attempt];
      if (pause === undefined) throw error;
      await sleep(pause);
    }
  }
}
