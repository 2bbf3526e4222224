import { isObject, type JsonValue } from '@tallystick/core';
import { type Answer, type Inspection, isDocument } from './inspection.ts';
import { type PlaceName, type Places, placesOf, type SurfacePath, type Target } from './surface.ts';

/** What the origin publishes about itself. Null where no answer came, or its address is unknown. */
export interface Documents {
  /** Null where the caller gave the descriptor. */
  readonly descriptor: Answer | null;
  readonly openapi: Answer | null;
  readonly trust: Answer | null;
  readonly did: Answer | null;
  readonly jwks: Answer | null;
  readonly pricing: Answer | null;
  /** From the descriptor, else the OpenAPI document, else the defaults. */
  readonly places: Places;
  /** Whether a descriptor was read: then only what it names is offered. */
  readonly described: boolean;
  /** Whether an OpenAPI document was read: then only what it names is offered. */
  readonly listed: boolean;
}

/** Places that count as offered where the OpenAPI document lists them. */
const BY_OPENAPI = {
  receipt_free: { method: 'POST', path: '/v1/receipt/free' },
  receipt_verify: { method: 'POST', path: '/v1/receipt/verify' },
} as const satisfies Partial<Record<PlaceName, SurfacePath>>;

/** Reads the public documents, one after another. */
export async function readDocuments(
  inspection: Inspection,
  { descriptor: given }: Target,
): Promise<Documents> {
  const read = async (place: SurfacePath | null): Promise<Answer | null> =>
    place === null ? null : inspection.ask(place);
  const descriptor = given === null ? await read(placesOf(null).descriptor) : null;
  const document = given ?? descriptor?.json ?? null;
  const named = placesOf(document);
  const openapi = await read(named.openapi);
  const paths =
    openapi !== null && isDocument(openapi) && isObject(openapi.json) ? openapi.json['paths'] : null;
  return {
    descriptor,
    openapi,
    trust: await read(named.trust),
    did: await read(named.did),
    jwks: await read(named.jwks),
    pricing: await read(named.pricing),
    described: isObject(document) && isObject(document['endpoints']),
    listed: isObject(paths),
    places: {
      ...named,
      receipt_free: named.receipt_free ?? placeIn(paths, BY_OPENAPI.receipt_free),
      receipt_verify: named.receipt_verify ?? placeIn(paths, BY_OPENAPI.receipt_verify),
    },
  };
}

function placeIn(paths: JsonValue | undefined, place: SurfacePath): SurfacePath | null {
  const item = isObject(paths) ? paths[place.path] : undefined;
  return isObject(item) && isObject(item[place.method.toLowerCase()]) ? place : null;
}
