import type { JsonObject } from '@tallystick/core';
import type { RouteExplanation, RouteInputs } from '../router/record.ts';
import type { CallRow, NewCall } from './call-store.ts';
import type { CallTrail } from './call-trail.ts';

/** Texts by name, which the caller gives a call to find it by. */
export type CallTags = Readonly<Record<string, string>>;

/** A call that has ended, as it is handed to the list of calls. */
export interface EndedCall extends Omit<CallRow, 'tags'> {
  readonly tags: CallTags | null;
  readonly trail: CallTrail;
  /** What `svc.billing` and `svc.compression` say whole; null where nothing was billed. */
  readonly billing: JsonObject | null;
  readonly compression: JsonObject | null;
}

/** What the list of calls needs of a request. */
export interface ListedRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly session?: string | null;
  readonly tags: CallTags | null;
  /** The body as its caller sent it. */
  readonly raw: JsonObject;
  /** Whether the call wants prompt and answer kept; null where it leaves that to its API key. */
  readonly keep: boolean | null;
}

/** Takes calls that have ended. Never throws, and never waits. */
export interface CallSink {
  push(call: EndedCall): void;
}

/** The row to write for a call that has ended. */
export function newCallOf({ tags, trail, billing, compression, ...row }: EndedCall): NewCall {
  const { steps, firstByteMs, tries, answered, decision } = trail;
  const begun = firstByteMs === null ? [] : [{ step: 'first_byte', at_ms: firstByteMs, ms: 0 }];
  const timeline = [...steps, ...begun].toSorted((a, b) => a.at_ms - b.at_ms);
  const explanation = decision?.explanation ?? null;
  const detail = JSON.stringify({ timeline, tries, answered, billing, compression });
  return {
    ...row,
    firstByteMs: whole(row.firstByteMs),
    totalMs: whole(row.totalMs),
    requestedModel: storable(row.requestedModel),
    session: row.session && storable(row.session),
    tags:
      tags === null
        ? null
        : JSON.stringify(tags, (_name, value) => (typeof value === 'string' ? storable(value) : value)),
    detail: `${detail.slice(0, -1)},"routing":${explanation === null ? null : routingText(explanation)}}`,
  };
}

/** JSON of lists of candidates: calls share one while nothing in it changes, and it is half of what is written of a call. */
const listTexts = new WeakMap<RouteInputs['candidates'], string>();

function routingText({ version, inputs: { candidates, ...others }, outcome }: RouteExplanation): string {
  const list = listTexts.get(candidates) ?? JSON.stringify(candidates);
  listTexts.set(candidates, list);
  const inputs = `${JSON.stringify(others).slice(0, -1)},"candidates":${list}}`;
  return `{"version":${version},"inputs":${inputs},"outcome":${JSON.stringify(outcome)}}`;
}

/** PostgreSQL stores no zero byte. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

function whole(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
