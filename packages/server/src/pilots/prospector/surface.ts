import { isObject, type JsonObject, type JsonValue, TallyError } from '@tallystick/core';

/** What a descriptor may name, with the default paths; null for none. */
const DEFAULT_PLACES = {
  descriptor: 'GET /v1/compute',
  openapi: 'GET /openapi.json',
  trust: 'GET /.well-known/trust.json',
  did: 'GET /.well-known/did.json',
  jwks: null,
  pricing: 'GET /pricing',
  mcp: 'POST /mcp',
  receipt_sample: null,
  receipt_free: null,
  receipt_verify: null,
  paid: null,
} as const;
export type PlaceName = keyof typeof DEFAULT_PLACES;

/** A path of the origin, and how it is called. */
export interface SurfacePath {
  readonly method: 'GET' | 'POST';
  /** With its query; it begins with one slash. */
  readonly path: string;
}

export type Places = Readonly<Record<PlaceName, SurfacePath | null>>;

/** The service to check. */
export interface Target {
  /** `https://example.com` */
  readonly origin: string;
  /** The descriptor, where the caller gave it. */
  readonly descriptor: JsonObject | null;
}

/**
 * The target of a request: an origin, or a descriptor (specification 2.11) that names its origin in `origin` or in
 * `agent_onboarding.base_url`.
 * @throws missing_field, conflicting_fields, invalid_field
 */
export function readTarget({ origin, descriptor }: { origin?: string; descriptor?: JsonObject }): Target {
  if (origin !== undefined && descriptor !== undefined) {
    throw new TallyError('conflicting_fields', 'Give origin or descriptor, not both.', { field: 'origin' });
  }
  if (origin !== undefined) return { origin: originOf(origin, 'origin'), descriptor: null };
  if (descriptor === undefined)
    throw new TallyError('missing_field', 'origin or descriptor is required.', { field: 'origin' });
  const onboarding = descriptor['agent_onboarding'];
  const named = descriptor['origin'] ?? (isObject(onboarding) ? onboarding['base_url'] : undefined);
  if (typeof named !== 'string') {
    throw new TallyError(
      'missing_field',
      'The descriptor contains neither origin nor agent_onboarding.base_url.',
      { field: 'descriptor.origin' },
    );
  }
  const field =
    descriptor['origin'] === undefined ? 'descriptor.agent_onboarding.base_url' : 'descriptor.origin';
  const base = URL.canParse(named) && field.endsWith('base_url') ? new URL(named).origin : named;
  return { origin: originOf(base, field), descriptor };
}

function originOf(text: string, field: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const bare =
    url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if (url === null || !bare || !/^https?:$/.test(url.protocol)) {
    throw new TallyError('invalid_field', `${field}: not an origin such as https://example.com.`, { field });
  }
  return url.origin;
}

/** The default places, with those that a descriptor names in `endpoints` (`{"mcp": "POST /mcp"}`). */
export function placesOf(descriptor: JsonValue): Places {
  const endpoints = isObject(descriptor) ? descriptor['endpoints'] : undefined;
  const named = isObject(endpoints) ? endpoints : {};
  const entries = Object.entries(DEFAULT_PLACES).map(
    ([name, fallback]) => [name, parsePlace(named[name]) ?? parsePlace(fallback)] as const,
  );
  return Object.fromEntries(entries) as Places;
}

/** `POST /mcp`; null for another form. A path can't leave the origin: `//host` and backslashes are none. */
export function parsePlace(text: JsonValue | undefined): SurfacePath | null {
  if (typeof text !== 'string') return null;
  const [, method, path] = /^(GET|POST) (\/(?![/\\])[!-[\]-~]{0,1000})$/.exec(text) ?? [];
  return path === undefined ? null : { method: method === 'GET' ? 'GET' : 'POST', path };
}
