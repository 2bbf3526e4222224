import { agentKeys } from '@tallystick/callers';
import { canonicalize, formatTimestamp } from '@tallystick/core';
import type { OwnIssuer, Registry } from '@tallystick/issuers';
import type { Logger } from 'pino';
import type { OrderRow, OrderStep, TreasuryStore } from '../treasury-store.ts';
import { destinationOf } from './contact.ts';
import { requireKeySecret } from './issue.ts';
import type { KeyDocument } from './key-document.ts';
import type { SendLetter } from './mail.ts';
import { isSoldTier } from './prices.ts';
import { sealKey } from './sealed-key.ts';
import { soldKey } from './sold-key.ts';
import type { PostToDomain } from './webhook.ts';

export interface DelivererOptions {
  readonly store: { readonly treasury: TreasuryStore };
  readonly issuer: Pick<OwnIssuer, 'keyring'>;
  readonly registry: Pick<Registry, 'document'>;
  /** Null where no e-mail can be sent. */
  readonly sendLetter: SendLetter | null;
  readonly postToDomain: PostToDomain;
  /** See `Watcher.readUntil`. */
  readonly readUntil: () => number;
  /** Whether the process is about to end: then no other delivery is begun. */
  readonly isClosing: () => boolean;
  /** The service's public URL, which the letter names. */
  readonly service: string;
  readonly development: boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** Seconds for which one process has a delivery to itself; longer than all its time-outs together. */
const LEASE = 120;
const FIRST_PAUSE = 30;
const LONGEST_PAUSE = 6 * 60 * 60;
/** With the pauses between them, these attempts last for almost four days. */
const MOST_ATTEMPTS = 24;
const POSTPONED = 60;
const MAX_PROBLEM = 300;

/**
 * Delivers sold keys, each at least once: an attempt is stored before it is made, and one that is not known to have
 * ended is repeated with the same key. It also forgets the seed of a delivered key, and quotes that nobody has paid.
 * Keys and contacts are never logged.
 */
export function createDeliverer(options: DelivererOptions): { step(): Promise<void> } {
  const { store, issuer, clock, logger, development } = options;
  const now = (): number => Math.floor(clock() / 1000);

  async function attend(order: OrderRow): Promise<void> {
    if (order.state === 'open') return expire(order);
    if (order.state === 'delivering') return deliver(order);
    await move(order, { seed: null, dueAt: null });
  }

  /** A quote expires only once every block of its time must have been read. */
  async function expire(order: OrderRow): Promise<void> {
    const seen = options.readUntil() >= (order.expiresAt ?? 0);
    await move(order, seen ? { state: 'expired', dueAt: null } : { dueAt: now() + POSTPONED });
  }

  async function deliver(order: OrderRow): Promise<void> {
    try {
      const sealed = await deliverOnce(order);
      await move(order, {
        state: 'done',
        seed: null,
        sealed,
        dueAt: null,
        problem: null,
        deliveredAt: now(),
      });
      logger.info({ order: order.id, attempts: order.attempts }, 'a key is delivered');
    } catch (error) {
      await failed(order, error instanceof Error ? error.message : String(error));
    }
  }

  /** Delivers the key. Returns what is stored of it: of a sealed key, the sealed document. */
  async function deliverOnce(order: OrderRow): Promise<string | null> {
    const destination = destinationOf(order, { development, mail: options.sendLetter !== null });
    if (destination === 'no_mail_server') throw new Error('No mail server is configured (TALLY_SMTP_URL).');
    if (typeof destination === 'string')
      throw new Error('The order has no contact that a key can be sent to.');
    const document = keyDocument(order, requireKeySecret(issuer));
    if (destination.kind === 'did') return seal(order, destination.did, document);
    if (destination.kind === 'domain') await options.postToDomain(destination.domain, document);
    else await send(order, destination.address, document);
    return null;
  }

  async function seal(order: OrderRow, did: string, document: KeyDocument): Promise<string> {
    const [publicKey] = await agentKeys(options.registry, { did, keyId: did }, now());
    if (publicKey === undefined) throw new Error(`${did} has no key in use.`);
    return canonicalize(sealKey(document, { order: order.id, did, publicKey }));
  }

  async function send({ id }: OrderRow, to: string, document: KeyDocument): Promise<void> {
    if (options.sendLetter === null) throw new Error('No mail server is configured (TALLY_SMTP_URL).');
    const { service } = options;
    await options.sendLetter({
      to,
      subject: `Your API key for ${service}`,
      text: letterText(document, service),
      id,
    });
  }

  async function failed(order: OrderRow, problem: string): Promise<void> {
    const last = order.attempts >= MOST_ATTEMPTS;
    const pause = Math.min(FIRST_PAUSE * 2 ** (order.attempts - 1), LONGEST_PAUSE);
    const text = problem.slice(0, MAX_PROBLEM);
    await move(order, {
      state: last ? 'undeliverable' : 'delivering',
      dueAt: last ? null : now() + pause,
      problem: text,
    });
    logger.warn({ order: order.id, attempts: order.attempts, last }, 'a key can’t be delivered');
  }

  async function move(order: OrderRow, change: Partial<OrderStep>): Promise<void> {
    await store.treasury.moveOrder({ ...order, ...change }, order);
  }

  return {
    async step() {
      while (!options.isClosing()) {
        const order = await store.treasury.takeDue(now(), now() + LEASE);
        if (order === null) return;
        await attend(order);
      }
    },
  };
}

/** The document that is delivered. */
function keyDocument({ id, tier, seed, apiKey, paidUntil }: OrderRow, secret: Uint8Array): KeyDocument {
  if (tier === null || !isSoldTier(tier) || seed === null || apiKey === null || paidUntil === null)
    throw new Error(`The order ${id} has no key to deliver.`);
  return {
    v: 'svc-key-delivery-v1',
    order_id: id,
    tier,
    key_id: apiKey,
    key: soldKey(secret, tier, seed),
    paid_until: formatTimestamp(paidUntil * 1000),
  };
}

function letterText({ order_id, tier, key_id, key, paid_until }: KeyDocument, service: string): string {
  return [
    `Your ${tier} key for ${service}:`,
    '',
    `    ${key}`,
    '',
    `It is valid until ${paid_until}. It is stored nowhere else: keep it safe. Should it be lost, or seen by`,
    `others, ask the operator to revoke ${key_id}. To renew it, pay again with the memo`,
    '',
    `    key=${key_id}`,
    '',
    `Order ${order_id}. This message may arrive twice, with the same key.`,
    '',
  ].join('\n');
}
