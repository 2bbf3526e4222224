import type { OwnIssuer } from '@tallystick/issuers';
import { type GuardedFetch, GuardedFetchError } from '@tallystick/kit';
import { openSecret } from './secret.ts';
import { signedHeaders } from './sign.ts';
import type { DeliveryResult, DeliveryRow, WebhookRow, WebhookStore } from './webhook-store.ts';

export interface DelivererDependencies {
  readonly store: { readonly webhooks: WebhookStore };
  readonly issuer: Pick<OwnIssuer, 'keyring'>;
  readonly fetch: GuardedFetch;
  /** Sent as `User-Agent`. */
  readonly agent: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Whether the process is about to end: then no other attempt is begun. */
  readonly isClosing: () => boolean;
  /** From 0 to 1, for spreading attempts. */
  readonly random?: () => number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Milliseconds from each failed attempt to the next: together about 28 hours. */
const PAUSES = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  12 * HOUR,
];
/** A pause is longer by up to this share, so that what failed together is not repeated together. */
const SPREAD = 0.1;
/** A webhook that accepts nothing for so long is disabled when a message to it is given up. */
const FAILING_MS = 72 * HOUR;
/** One process has a webhook to itself for so long; at half of it, it begins no other attempt. */
const LEASE_MS = 2 * MINUTE;
const AT_ONCE = 8;
const PAGE = 10;
const GONE = 410;

/**
 * Sends what is due. A webhook's messages go one after another, and only by the process that holds its lease; a message
 * may arrive twice, with the same id, after a crash. Neither secrets nor answers are stored or logged.
 */
export function createWebhookDeliverer(dependencies: DelivererDependencies): {
  /** Begins to send what is due, beside what is being sent already. @throws what sending has failed with since the last time */
  begin(): void;
  /** Resolves when what is being sent is sent. */
  ended(): Promise<void>;
} {
  const { store, clock, isClosing } = dependencies;
  const workers = new Set<Promise<void>>();
  const failures: unknown[] = [];

  async function work(): Promise<void> {
    while (!isClosing()) {
      const until = clock() + LEASE_MS;
      const webhook = await store.webhooks.take(clock(), until);
      if (webhook === null) return;
      try {
        await deliverAll(dependencies, webhook, until - LEASE_MS / 2);
      } finally {
        await store.webhooks.release(webhook.id, until);
      }
    }
  }

  return {
    begin() {
      while (workers.size < AT_ONCE) {
        const worker = work()
          .catch((error: unknown) => void failures.push(error))
          .finally(() => workers.delete(worker));
        workers.add(worker);
      }
      const [failure] = failures.splice(0);
      if (failure !== undefined) throw failure;
    },
    async ended() {
      await Promise.all(workers);
    },
  };
}

/** @param until Unix milliseconds after which no attempt is begun */
async function deliverAll(
  dependencies: DelivererDependencies,
  webhook: WebhookRow,
  until: number,
): Promise<void> {
  const { store, clock, isClosing } = dependencies;
  let { failingSince } = webhook;
  for (;;) {
    const due = await store.webhooks.due(webhook.id, clock(), PAGE);
    if (due.length === 0) return;
    for (const delivery of due) {
      if (isClosing() || clock() >= until) return;
      const result = await attempt(dependencies, webhook, delivery);
      const follows = consequence(result, failingSince);
      if (!(await store.webhooks.attempted(result, follows)) || follows.disabledAt !== null) return;
      ({ failingSince } = follows);
    }
  }
}

/** What an attempt means for its webhook. */
function consequence(
  { state, status, lastAt }: DeliveryResult,
  failingSince: number | null,
): Pick<WebhookRow, 'failingSince' | 'disabledAt' | 'disabledBecause'> {
  const enabled = { disabledAt: null, disabledBecause: null };
  if (state === 'delivered' || lastAt === null) return { failingSince: null, ...enabled };
  const since = failingSince ?? lastAt;
  if (status === GONE) return { failingSince: since, disabledAt: lastAt, disabledBecause: 'gone' };
  if (state === 'failed' && lastAt - since >= FAILING_MS)
    return { failingSince: since, disabledAt: lastAt, disabledBecause: 'failing' };
  return { failingSince: since, ...enabled };
}

async function attempt(
  dependencies: DelivererDependencies,
  webhook: WebhookRow,
  { message, body, attempts }: DeliveryRow,
): Promise<DeliveryResult> {
  const { clock, random = Math.random } = dependencies;
  const began = clock();
  const { status, problem } = await send(dependencies, webhook, { message, body });
  const lastAt = clock();
  const made = { webhook: webhook.id, message, attempts: attempts + 1, lastAt, status, problem };
  const took = lastAt - began;
  if (problem === null) return { ...made, took, state: 'delivered', dueAt: null };
  const pause = status === GONE ? undefined : PAUSES[attempts];
  if (pause === undefined) return { ...made, took, state: 'failed', dueAt: null };
  return { ...made, took, state: 'waiting', dueAt: lastAt + Math.round(pause * (1 + SPREAD * random())) };
}

async function send(
  { issuer, fetch, agent, clock }: DelivererDependencies,
  { id, url, secret, previousSecret, previousUntil }: WebhookRow,
  { message, body }: Pick<DeliveryRow, 'message' | 'body'>,
): Promise<{ readonly status: number | null; readonly problem: string | null }> {
  const { apiKeySecret } = issuer.keyring;
  if (apiKeySecret === null) return { status: null, problem: 'The keyring has no secret for API keys.' };
  try {
    const now = clock();
    const previous = now < (previousUntil ?? 0) ? previousSecret : null;
    const secrets = [secret, ...(previous === null ? [] : [previous])];
    const signed = signedHeaders(
      secrets.map((sealed) => openSecret(apiKeySecret, id, sealed)),
      { message, body, now },
    );
    const headers = { ...signed, 'content-type': 'application/json', 'user-agent': agent };
    const { status } = await fetch(url, { method: 'POST', headers, body });
    const accepted = status >= 200 && status < 300;
    return { status, problem: accepted ? null : `The receiver answered ${status}.` };
  } catch (error) {
    if (error instanceof GuardedFetchError) return { status: null, problem: error.message };
    return { status: null, problem: 'The message could not be signed with the secret of the webhook.' };
  }
}
