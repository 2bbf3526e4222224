interface Rest {
  readonly until: string;
  readonly by: 'operator' | 'failures';
}

interface Called {
  readonly id: string;
  readonly state: string;
  readonly code: string;
  readonly since: string | null;
  readonly rest: Rest | null;
  readonly calls: number;
  readonly failed: number;
  readonly error_rate: number | null;
  readonly first_byte_ms: number | null;
}

export interface Provider extends Called {
  readonly models: number;
  readonly resting: number;
}

export interface Model extends Called {
  readonly provider: string;
  readonly warning: string | null;
}

interface Queue {
  readonly name: string;
  readonly scope: 'process' | 'service';
  readonly waiting: number;
  readonly due: number | null;
}

interface Refund {
  readonly id: string;
  readonly state: string;
  readonly network: string;
  readonly address: string;
  readonly amount_usdc: string;
  readonly reason: string | null;
  readonly requested_at: string;
  readonly note: string | null;
}

/** Answer of `GET /v1/operator/overview`. */
export interface Overview {
  readonly at: string;
  readonly service: {
    readonly did: string;
    readonly mode: string;
    readonly version: string;
    readonly schema_version: number;
    readonly database: string;
    readonly process: string;
    readonly processes: number;
    readonly uptime_seconds: number;
  };
  readonly health: { readonly status: string; readonly checks: Readonly<Record<string, string>> };
  readonly queues: readonly Queue[];
  readonly providers: readonly Provider[];
  readonly models: readonly Model[];
  readonly catalogue: {
    readonly models: number;
    readonly providers: number;
    readonly oldest_price: { readonly model: string; readonly read_on: string; readonly days: number } | null;
    readonly retiring: readonly {
      readonly model: string;
      readonly retires_on: string;
      readonly days: number;
      readonly successors: readonly string[];
    }[];
    readonly warnings: readonly { readonly model: string; readonly code: string }[];
  };
  readonly refunds: readonly Refund[];
  readonly webhooks: {
    readonly webhooks: number;
    readonly disabled: number;
    readonly failing: number;
    readonly waiting: number;
    readonly due: number;
  };
  readonly log: {
    readonly origin: string;
    readonly accepted: number;
    readonly size: number;
    readonly anchored: number;
    readonly overdue_seconds: number;
    readonly next_posting_at: string | null;
    readonly accepting: string;
    readonly posting: string;
    readonly leading: boolean;
    readonly leader: { readonly holder: string; readonly lease_seconds: number } | null;
    readonly open_postings: Readonly<Record<string, number>>;
    readonly witnesses: readonly {
      readonly name: string;
      readonly url: string;
      readonly cosigned_size: number | null;
      readonly cosigned_at: string | null;
    }[];
  };
}
