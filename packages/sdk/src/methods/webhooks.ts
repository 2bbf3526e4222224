import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import type {
  ListWebhookDeliveriesAnswer,
  ListWebhooksAnswer,
  NewWebhook,
  TestWebhookAnswer,
  Webhook,
} from './documents.ts';
import { type ListParams, pageOf } from './lists.ts';
import { read, send } from './read.ts';

/** Messages to a URL of the caller's when something has happened: docs/webhooks.md. */
export interface WebhookMethods {
  /** Lists the caller's webhooks, newest first. There are at most ten. */
  listWebhooks(call?: CallOptions): Promise<ListWebhooksAnswer>;
  /** Makes a webhook. Its `secret` is shown this once. @throws ServiceError (webhook_limit) */
  createWebhook(params: WebhookParams, call?: CallOptions): Promise<NewWebhook>;
  /** Changes what is given. @throws ServiceError (webhook_not_found) */
  updateWebhook(
    id: string,
    params: Partial<WebhookParams> & { readonly enabled?: boolean | undefined },
    call?: CallOptions,
  ): Promise<Webhook>;
  /** Deletes a webhook with its deliveries. @throws ServiceError (webhook_not_found) */
  deleteWebhook(id: string, call?: CallOptions): Promise<void>;
  /** Has a message of type `webhook.test` sent. @throws ServiceError (webhook_not_found, webhook_disabled) */
  testWebhook(id: string, call?: CallOptions): Promise<TestWebhookAnswer>;
  /** Lists the messages of the last 30 days, and what became of each. @throws ServiceError (webhook_not_found) */
  listWebhookDeliveries(
    id: string,
    params?: ListParams,
    call?: CallOptions,
  ): Promise<ListWebhookDeliveriesAnswer>;
  /**
   * Gives a webhook a new secret, which is shown this once. Messages are signed with the secret before as well for a time.
   * @throws ServiceError (webhook_not_found, key_cannot_manage)
   */
  rotateWebhookSecret(
    id: string,
    params?: RotateWebhookSecretParams,
    call?: CallOptions,
  ): Promise<NewWebhook>;
}

export interface RotateWebhookSecretParams {
  /** How long the secret before still signs, in seconds: a day when absent, a week at most. */
  readonly graceSeconds?: number | undefined;
}

export interface WebhookParams {
  /** An https URL. */
  readonly url: string;
  /** What it is told of, such as `balance.low`. */
  readonly events: readonly Webhook['events'][number][];
}

const PATH = '/v1/webhooks';

export function webhookMethods(transport: Transport): WebhookMethods {
  const pathOf = (id: string): string => `${PATH}/${pathPart(id, 'id')}`;
  return {
    listWebhooks: (call) => read(transport, PATH, call),
    createWebhook: ({ url, events }, call) => send(transport, PATH, { url, events }, call),
    async updateWebhook(id, { url, events, enabled }, call) {
      return (await transport.patch<Webhook>(pathOf(id), { url, events, enabled }, call)).json;
    },
    async deleteWebhook(id, call) {
      await transport.delete(pathOf(id), call);
    },
    async testWebhook(id, call) {
      return (await transport.post<TestWebhookAnswer>(`${pathOf(id)}/test`, null, call)).json;
    },
    listWebhookDeliveries: async (id, params = {}, call) =>
      read(transport, `${pathOf(id)}/deliveries`, call, pageOf(params)),
    rotateWebhookSecret: async (id, { graceSeconds } = {}, call) =>
      send(transport, `${pathOf(id)}/rotate`, { grace_seconds: graceSeconds }, call),
  };
}
