import type { OpenApiDocument } from '../http/openapi.ts';
import type { Schema } from './schema.ts';

/** One endpoint of the OpenAPI document, as the reference shows it. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly group: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly availability: string;
  readonly parameters: readonly Parameter[];
  /** Ways to authorize a request: names of security schemes that are needed together; an empty list for none. */
  readonly credentials: readonly (readonly string[])[];
  readonly body: { readonly schema: Schema; readonly example?: unknown } | undefined;
  readonly responses: readonly ResponseDocs[];
}

export interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface ResponseDocs {
  readonly status: string;
  readonly description: string;
  readonly headers: Readonly<Record<string, { readonly description?: string }>>;
  readonly contentType: string | undefined;
  readonly schema: Schema | undefined;
  /** Further media types that the body may have. */
  readonly otherTypes: readonly string[];
  /** The codes of a problem document; none on success. */
  readonly codes: readonly string[];
}

interface RawOperation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly 'x-availability'?: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { schema: Schema; example?: unknown }>>;
  };
  readonly responses: Readonly<Record<string, RawResponse>>;
}

interface RawResponse {
  readonly description: string;
  readonly headers?: ResponseDocs['headers'];
  readonly content?: Readonly<Record<string, { schema?: Schema }>>;
}

/** The document's operations by group, in the order in which they were added. */
export function operationsByGroup(document: OpenApiDocument): ReadonlyMap<string, readonly Operation[]> {
  const paths = Object.entries((document.paths ?? {}) as Record<string, Record<string, RawOperation>>);
  const operations = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => readOperation(method, path, raw)),
  );
  return Map.groupBy(operations, ({ group }) => group);
}

function readOperation(method: string, path: string, raw: RawOperation): Operation {
  return {
    id: slug(`${method} ${path}`),
    method,
    path,
    group: raw.tags?.[0] ?? 'Other',
    summary: raw.summary ?? path,
    description: raw.description,
    availability: raw['x-availability'] ?? 'live',
    parameters: raw.parameters ?? [],
    credentials: (raw.security ?? []).map(Object.keys),
    body: raw.requestBody?.content['application/json'],
    responses: Object.entries(raw.responses).map(([status, response]) => readResponse(status, response)),
  };
}

function readResponse(
  status: string,
  { description, headers = {}, content = {} }: RawResponse,
): ResponseDocs {
  const [first, ...others] = Object.entries(content);
  const [contentType, media] = first ?? [];
  const codes =
    contentType === 'application/problem+json' ? (media?.schema?.properties?.['code']?.enum ?? []) : [];
  return {
    status,
    description,
    headers,
    contentType,
    schema: media?.schema,
    otherTypes: others.map(([type]) => type),
    codes: codes.map(String),
  };
}

/** Lower-case words for an anchor: `get-v1-receipt-id`. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
