/** A row of `GET /v1/webhooks`. Times are RFC 3339. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly enabled: boolean;
  readonly disabled_because: 'owner' | 'failing' | 'gone' | null;
  readonly disabled_at: string | null;
  readonly failing_since: string | null;
  /** Until when the secret before signs as well. */
  readonly previous_secret_until: string | null;
  readonly created_at: string;
}

/** A webhook that was just made, or has a new secret. */
export interface NewWebhook extends Webhook {
  readonly secret: string;
}

/** A row of `GET /v1/webhooks/{id}/deliveries`. */
export interface Delivery {
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly state: 'waiting' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly last_attempt_at: string | null;
  readonly status: number | null;
  readonly problem: string | null;
  readonly took_ms: number | null;
  readonly message: Readonly<Record<string, unknown>>;
}
