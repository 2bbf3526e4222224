import { TallyError } from '../errors.ts';
import type { JsonObject } from '../json/types.ts';
import {
  hex64,
  integer,
  nonEmptyText,
  nullable,
  numberIn,
  object,
  oneOf,
  pattern,
  type Rule,
  timestamp,
} from './shape.ts';
import type { StatusDocument } from './status.ts';

export const STATUS_STATES = ['up', 'degraded', 'down', 'unknown'] as const;
export type StatusState = (typeof STATUS_STATES)[number];

/** State of one endpoint at its last probe. */
export interface StatusEndpoint {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly availability: 'live' | 'pilot';
  /**
   * `answer`: the probe’s request was served in full. `refusal`: the endpoint refused the probe’s request, as it
   * must.
   */
  readonly probe: 'answer' | 'refusal';
  readonly state: StatusState;
  /** `ok`, or what was wrong. */
  readonly code: string;
  /** The median of the newest `samples` that were answered, in milliseconds; null where there are none. */
  readonly latency_ms: number | null;
  readonly samples: number;
  readonly checked_at: string;
  /** Time since which `state` has held. */
  readonly since: string;
}

/** State of a provider or a model. */
export interface StatusModel {
  /** The id of a model, as in `/v1/compute/models`; the name of a provider. */
  readonly id: string;
  /** `unknown` where nobody called it lately. */
  readonly state: StatusState;
  /** `ok`, or what was wrong. */
  readonly code: string;
  /** Time since which `state` has held. */
  readonly since: string;
}

/** State of the anchor log. */
export interface StatusLog {
  /** The newest signed checkpoint; null before the first. `root` is hex. */
  readonly checkpoint: { readonly origin: string; readonly size: number; readonly root: string } | null;
  /** Hashes accepted, and of these the ones under a root that is final on the chain. */
  readonly accepted: number;
  readonly anchored: number;
  /** The most that the oldest hash that is not anchored can have waited; null where none waits. */
  readonly oldest_unanchored_seconds: number | null;
}

/** Contents of a status document. */
export interface StatusReport extends StatusDocument {
  version: number;
  service: string;
  endpoints: (StatusEndpoint & JsonObject)[];
  providers: (StatusModel & JsonObject)[];
  models: (StatusModel & JsonObject)[];
  log: StatusLog & JsonObject;
}

/** Version of the report that this code reads. */
const VERSION = 1;

const code = pattern(/^[a-z][a-z0-9_]{0,63}$/, 'a code of lower-case letters, digits and underscores');

const endpointShape = object({
  name: nonEmptyText,
  method: oneOf('GET', 'POST'),
  path: pattern(/^\/[!-~]*$/, 'a path'),
  availability: oneOf('live', 'pilot'),
  probe: oneOf('answer', 'refusal'),
  state: oneOf(...STATUS_STATES),
  code,
  latency_ms: nullable(numberIn(0, 3_600_000)),
  samples: integer(0),
  checked_at: timestamp,
  since: timestamp,
});

const modelShape = object({
  id: nonEmptyText,
  state: oneOf(...STATUS_STATES),
  code,
  since: timestamp,
});

const listOf =
  (shape: Rule): Rule =>
  (value, path) => {
    if (!Array.isArray(value)) return { field: path, expected: 'a list' };
    for (const [index, entry] of value.entries()) {
      const fault = shape(entry, `${path}[${index}]`);
      if (fault !== null) return fault;
    }
    return null;
  };

const reportShape = object({
  version: integer(VERSION, VERSION),
  service: nonEmptyText,
  endpoints: listOf(endpointShape),
  providers: listOf(modelShape),
  models: listOf(modelShape),
  log: object({
    checkpoint: nullable(object({ origin: nonEmptyText, size: integer(0), root: hex64 })),
    accepted: integer(0),
    anchored: integer(0),
    oldest_unanchored_seconds: nullable(integer(0)),
  }),
});

/**
 * Reads the report of a status document that `verify` found valid: a signature says nothing about the form.
 * @throws invalid_field for a report of another form or version, with the member
 */
export function readStatus(document: JsonObject): StatusReport {
  const fault = reportShape(document, '');
  if (fault === null) return document as StatusReport;
  throw new TallyError('invalid_field', `${fault.field} must be ${fault.expected}.`, { field: fault.field });
}
