import type { JsonObject } from '../json/types.ts';
import {
  hex64,
  type Infer,
  integer,
  listOf,
  nonEmptyText,
  nullable,
  numberIn,
  object,
  oneOf,
  pattern,
  requireShape,
  timestamp,
} from './shape.ts';
import type { StatusDocument } from './status.ts';

export const STATUS_STATES = ['up', 'degraded', 'down', 'unknown'] as const;
export type StatusState = (typeof STATUS_STATES)[number];

/** Version of the report that this code reads. */
const VERSION = 1;

const code = pattern(/^[a-z][a-z0-9_]{0,63}$/, 'a code of lower-case letters, digits and underscores');

const endpointShape = object({
  name: nonEmptyText,
  method: oneOf('GET', 'POST'),
  path: pattern(/^\/[!-~]*$/, 'a path'),
  availability: oneOf('live', 'pilot'),
  /**
   * `answer`: the probe’s request was served in full. `refusal`: the endpoint refused the probe’s request, as it
   * must.
   */
  probe: oneOf('answer', 'refusal'),
  state: oneOf(...STATUS_STATES),
  /** `ok`, or the code of the fault. */
  code,
  /** Median latency of the newest `samples` answers, in milliseconds; null if there are none. */
  latency_ms: nullable(numberIn(0, 3_600_000)),
  samples: integer(0),
  checked_at: timestamp,
  /** Time since which `state` has held. */
  since: timestamp,
});

/** State of one endpoint at its last probe. */
export type StatusEndpoint = Infer<typeof endpointShape>;

const modelShape = object(
  {
    /** The id of a model, as in `/v1/compute/models`; the name of a provider. */
    id: nonEmptyText,
    /** `unknown` if it was not called lately. */
    state: oneOf(...STATUS_STATES),
    /** `ok`, or the code of the fault. */
    code,
    /** Time since which `state` has held. */
    since: timestamp,
  },
  {
    optional: {
      /** Code of what will become a fault, whatever the state is. */
      warning: code,
    },
  },
);

/** State of a provider or a model. */
export type StatusModel = Infer<typeof modelShape>;

const logShape = object({
  /** The newest signed checkpoint; null before the first. `root` is hex. */
  checkpoint: nullable(object({ origin: nonEmptyText, size: integer(0), root: hex64 })),
  /** Number of hashes accepted; `anchored` of them are under a root that is final on the chain. */
  accepted: integer(0),
  anchored: integer(0),
  /** Upper bound on how long the oldest unanchored hash has waited, in seconds; null if none waits. */
  oldest_unanchored_seconds: nullable(integer(0)),
});

/** State of the anchor log. */
export type StatusLog = Infer<typeof logShape>;

const reportShape = object({
  version: integer(VERSION, VERSION),
  service: nonEmptyText,
  endpoints: listOf(endpointShape),
  providers: listOf(modelShape),
  models: listOf(modelShape),
  log: logShape,
});

/** Contents of a status document. */
export type StatusReport = StatusDocument & Infer<typeof reportShape>;

/**
 * Reads the report of a status document that `verify` found valid: a signature says nothing about the form.
 * @throws invalid_field for a report of another form or version, with the member
 */
export function readStatus(document: JsonObject): JsonObject & StatusReport {
  return requireShape(reportShape, document) as JsonObject & StatusReport;
}
