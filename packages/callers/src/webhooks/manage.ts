import { randomBytes } from 'node:crypto';
import { TallyError } from '@tallystick/core';
import type { WebhookEvent } from './events.ts';
import { newWebhookSecret, sealSecret } from './secret.ts';
import type { WebhookRow, WebhookStore } from './webhook-store.ts';

type Webhooks = { readonly webhooks: WebhookStore };

/** Most webhooks of one owner. */
export const MOST_WEBHOOKS = 10;
const MOST_URL = 2_048;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a string is the id of a webhook: `wh_` and 24 hex digits. */
export const isWebhookId = (text: string): boolean => /^wh_[0-9a-f]{24}$/.test(text);

/**
 * Makes a webhook. Its secret is shown here and never again.
 * @param service the keyring's `apiKeySecret`
 * @param given.now Unix milliseconds
 * @throws invalid_field for a URL that may not be called; webhook_limit where the owner has as many as there may be; unavailable where the keyring has no secret
 */
export async function createWebhook(
  { webhooks }: Webhooks,
  service: Uint8Array | null,
  given: {
    readonly owner: string;
    readonly url: string;
    readonly events: readonly WebhookEvent[];
    readonly development: boolean;
    readonly now: number;
  },
): Promise<{ readonly row: WebhookRow; readonly secret: string }> {
  requireService(service);
  const id = `wh_${randomBytes(12).toString('hex')}`;
  const secret = newWebhookSecret();
  const row: WebhookRow = {
    id,
    owner: given.owner,
    url: checkUrl(given.url, given.development),
    events: eventsText(given.events),
    secret: sealSecret(service, id, secret),
    previousSecret: null,
    previousUntil: null,
    createdAt: given.now,
    disabledAt: null,
    disabledBecause: null,
    failingSince: null,
  };
  if ((await webhooks.put(row, MOST_WEBHOOKS)) === 'stored') return { row, secret };
  throw new TallyError(
    'webhook_limit',
    `There are ${MOST_WEBHOOKS} webhooks already, which is the most. Delete one first.`,
  );
}

/**
 * Changes what is given of a webhook. Enabling it forgets how long it has failed.
 * @throws webhook_not_found; invalid_field for a URL that may not be called
 */
export async function changeWebhook(
  { webhooks }: Webhooks,
  { owner, id }: Pick<WebhookRow, 'owner' | 'id'>,
  change: {
    readonly url?: string | undefined;
    readonly events?: readonly WebhookEvent[] | undefined;
    readonly enabled?: boolean | undefined;
    readonly development: boolean;
    readonly now: number;
  },
): Promise<WebhookRow> {
  const { url, events, enabled, development, now } = change;
  const given = {
    ...(url !== undefined && { url: checkUrl(url, development) }),
    ...(events !== undefined && { events: eventsText(events) }),
    ...(enabled === true && { disabledAt: null, disabledBecause: null, failingSince: null }),
  };
  const row = await webhooks.change(owner, id, ({ disabledAt }) => ({
    ...given,
    ...(enabled === false && disabledAt === null && { disabledAt: now, disabledBecause: 'owner' }),
  }));
  if (row === null) throw unknownWebhook();
  return row;
}

/**
 * Gives a webhook a new secret, which is shown here and never again. Messages are signed with the secret before as well
 * for `graceMs`.
 * @param service the keyring's `apiKeySecret`
 * @throws webhook_not_found; unavailable where the keyring has no secret
 */
export async function rotateWebhookSecret(
  { webhooks }: Webhooks,
  service: Uint8Array | null,
  {
    owner,
    id,
    now,
    graceMs,
  }: Pick<WebhookRow, 'owner' | 'id'> & { readonly now: number; readonly graceMs: number },
): Promise<{ readonly row: WebhookRow; readonly secret: string }> {
  requireService(service);
  const secret = newWebhookSecret();
  const sealed = { secret: sealSecret(service, id, secret), previousUntil: now + graceMs };
  const row = await webhooks.rotate(owner, id, sealed);
  if (row === null) throw unknownWebhook();
  return { row, secret };
}

/** @throws webhook_not_found, also for a webhook of somebody else */
export async function requireWebhook({ webhooks }: Webhooks, owner: string, id: string): Promise<WebhookRow> {
  const row = await webhooks.get(owner, id);
  if (row !== null) return row;
  throw unknownWebhook();
}

/** @throws webhook_not_found */
export async function deleteWebhook({ webhooks }: Webhooks, owner: string, id: string): Promise<void> {
  if (!(await webhooks.remove(owner, id))) throw unknownWebhook();
}

function requireService(service: Uint8Array | null): asserts service is Uint8Array {
  if (service !== null) return;
  throw new TallyError(
    'unavailable',
    'The keyring has no secret for API keys, so no webhook can be made. Ask the operator to make a first key with: tally apikey create',
  );
}

function eventsText(events: readonly WebhookEvent[]): string {
  return [...new Set(events)].join(' ');
}

/**
 * Which hosts may be called is decided at each attempt, when the name is resolved.
 * @throws invalid_field
 */
function checkUrl(text: string, development: boolean): string {
  const url = URL.canParse(text) && text.length <= MOST_URL ? new URL(text) : null;
  const local = development && url?.protocol === 'http:' && LOOPBACK.has(url.hostname);
  if (url === null || (url.protocol !== 'https:' && !local))
    throw badUrl(`is not an https URL of at most ${MOST_URL} characters.`);
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw badUrl('may have neither a user name and password nor a fragment.');
  return url.href;
}

function badUrl(why: string): TallyError {
  return new TallyError('invalid_field', `url ${why}`, { field: 'url' });
}

function unknownWebhook(): TallyError {
  return new TallyError(
    'webhook_not_found',
    'You have no webhook with this id. GET /v1/webhooks lists yours.',
  );
}
