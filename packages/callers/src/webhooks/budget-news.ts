import { formatTimestamp } from '@tallystick/core';
import { createBackground } from '@tallystick/kit';
import { formatUsdc, type SpendingWindow } from '@tallystick/ledger';
import { webhookMessage } from './events.ts';
import type { WebhookStore } from './webhook-store.ts';

/** Milliseconds after which a budget is told of again, for webhooks that were made meanwhile; the others have the message. */
const AGAIN_MS = 60_000;
/** Budgets that are remembered as told. */
const MOST = 10_000;

interface NewsDependencies {
  readonly webhooks: Pick<WebhookStore, 'emit'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Parameters<typeof createBackground>[0];
}

/**
 * Tells webhooks that a budget is used up, beside the calls that are refused for it. A webhook gets one message for each
 * spender and day or month, however many calls and processes tell it.
 */
export class BudgetNews {
  readonly #dependencies: NewsDependencies;
  /** When a budget was told of last, in Unix milliseconds. */
  readonly #told = new Map<string, number>();
  readonly #underWay = new Set<Promise<void>>();

  constructor(dependencies: NewsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes a budget that leaves too little for a call. @param owner the account whose webhooks are told */
  reached(owner: string, { spender, kind, limit, used, reserved, resetAt }: SpendingWindow): void {
    const { webhooks, clock, logger } = this.#dependencies;
    const occasion = `${spender} ${kind} ${resetAt}`;
    const at = clock();
    if (at - (this.#told.get(occasion) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return;
    if (this.#told.size >= MOST) this.#told.clear();
    this.#told.set(occasion, at);
    const data = {
      spender,
      period: kind,
      limit_usdc: formatUsdc(limit),
      spent_usdc: formatUsdc(used - reserved),
      reserved_usdc: formatUsdc(reserved),
      resets_at: formatTimestamp(resetAt * 1_000),
    };
    const message = webhookMessage('budget.reached', { occasion, at, data });
    const telling = createBackground(logger)
      .once('telling webhooks of a budget', () => webhooks.emit(message, owner))
      .finally(() => this.#underWay.delete(telling));
    this.#underWay.add(telling);
  }

  /** Resolves when the messages under way are stored. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
