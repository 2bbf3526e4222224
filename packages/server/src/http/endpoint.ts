import { createRoute, type RouteConfig, type z } from '@hono/zod-openapi';
import { type ErrorCode, type JsonValue, TallyError } from '@tallystick/core';
import { type EndpointPrice, namesOf, validate } from '@tallystick/kit';
import type { Answer } from './answer.ts';
import { bodyChunks, hasMediaType, readJson } from './body.ts';
import type { Dialect } from './dialect.ts';
import type { Exchange, Frame } from './exchange.ts';
import { PAYMENT_RESPONSE_HEADER, PRICE_ERRORS, PRICE_HEADERS } from './price.ts';
import { problemResponses } from './problem-responses.ts';
import { type Credential, headersOfCredentials, securityOf } from './security.ts';

/** How one status is answered, for the reference. */
interface AnswerDocs {
  readonly description: string;
  /** Schema of a JSON body unless `contentType` says otherwise; absent when there is no body. */
  readonly schema?: z.ZodType;
  readonly contentType?: string;
  /** Bodies of other media types that the same status may have, by media type. */
  readonly otherwise?: Readonly<Record<string, z.ZodType>>;
  /** Response headers by name, with what each means. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The schema of parameters, as the generator of the document takes it. */
type RouteParameter = NonNullable<NonNullable<RouteConfig['request']>['params']>;

/** An endpoint as its author writes it; see `endpoint`. */
export interface EndpointDefinition<Body, Query, Params, Admitted> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** In OpenAPI's form: `/v1/receipt/{id}`. */
  readonly path: string;
  /** Whether the last path parameter takes the whole rest of the path, including slashes. */
  readonly rest?: boolean;
  /** Name for generated clients: unique, a verb first, and never changed. */
  readonly operationId: string;
  /** Ways to authorize a request, of which any suffices; none if it is public and reads no credential. */
  readonly credentials?: readonly Credential[];
  /** Heading under which the reference lists it; GROUPS describes it. */
  readonly group: string;
  readonly summary: string;
  readonly description?: string;
  readonly availability: 'live' | 'pilot';
  /** Path parameters. */
  readonly params?: z.ZodType<Params> & RouteParameter;
  readonly query?: z.ZodType<Query> & RouteParameter;
  /** The JSON body, a `z.strictObject`; without it the body is not read. */
  readonly body?: z.ZodType<Body>;
  /** Another form of the body, of any length, that is processed as it arrives. */
  readonly stream?: StreamDefinition<Query, Params, Admitted>;
  /** The API of another service that it speaks: faults of the request are `invalid_request`. */
  readonly dialect?: Dialect;
  /** Most bytes of the body, if it differs from the service's general limit. */
  readonly maxBodyBytes?: number;
  /** Request headers that have an effect here, with what each does. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The price where payments are on, for the reference and for the list of payable endpoints. */
  readonly price?: EndpointPrice;
  /** A valid body, for the reference's curl line. */
  readonly example?: JsonValue;
  readonly answers: Readonly<Record<number, AnswerDocs>>;
  /** Codes that the handler can answer; those of reading and checking the request are added. */
  readonly errors?: readonly ErrorCode[];
  /**
   * Decides by the headers and the path alone who may call. It runs before the query and the body are read, so that a
   * stranger learns nothing about them. Its result is the call's `admitted`.
   */
  readonly admit?: (exchange: Exchange & { readonly params: Params }) => Admitted | Promise<Admitted>;
  /** Whether a GET makes something that HEAD must not make: HEAD is then answered after the checks, without `handle`. */
  readonly makes?: boolean;
  readonly handle: (call: Call<Body, Query, Params, Admitted>) => Answer | Promise<Answer>;
}

interface StreamDefinition<Query, Params, Admitted> {
  /** `application/x-ndjson` */
  readonly mediaType: string;
  readonly description: string;
  /** Absent where the body is no text. */
  readonly example?: string;
  readonly handle: (call: StreamCall<Query, Params, Admitted>) => Promise<Answer>;
}

/** A request whose body is not read or checked yet. */
interface StreamCall<Query, Params, Admitted> extends Exchange {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly query: Query;
  readonly params: Params;
  readonly admitted: Admitted;
}

/** A request that was checked. */
interface Call<Body, Query, Params, Admitted> extends Exchange {
  readonly body: Body;
  /** The exact bytes of the body; empty if it is not read. */
  readonly rawBody: Uint8Array;
  /** The body's own JSON text, which of a request that came inside another is not `rawBody`. */
  readonly bodyText: () => string;
  readonly query: Query;
  readonly params: Params;
  readonly admitted: Admitted;
}

/** An endpoint that can be mounted. Only it knows its body's type. */
export interface Endpoint {
  readonly method: EndpointDefinition<unknown, unknown, unknown, unknown>['method'];
  readonly path: string;
  readonly rest: boolean;
  readonly group: string;
  readonly errors: ReadonlySet<ErrorCode>;
  /** @param dialect of the errors at its path */
  readonly openapi: (dialect: Dialect | undefined) => ReturnType<typeof createRoute>;
  readonly dialect: Dialect | undefined;
  /** Null if it costs nothing. */
  readonly price: EndpointPrice | null;
  /** Most bytes of the body, if it differs from the service's general limit. */
  readonly maxBodyBytes: number | undefined;
  readonly handle: (exchange: Exchange, frame: Frame) => Promise<Answer>;
  /** Like `handle`, for a request that is read and still to be checked: one that came inside another. */
  readonly answer: (exchange: Exchange, given: RequestParts) => Promise<Answer>;
}

/** The contents of a request, however it came. */
export interface RequestParts {
  readonly params: Readonly<Record<string, JsonValue>>;
  readonly query: Readonly<Record<string, JsonValue>>;
  readonly body: JsonValue;
  /** The body of the HTTP request, which a message signature covers. */
  readonly rawBody: Uint8Array;
}

/**
 * Defines an endpoint, both its documentation and what it does, in one object. To add one, copy a neighbour in
 * `routes/` and add it to the app's list.
 */
export function endpoint<Body = undefined, Query = undefined, Params = undefined, Admitted = undefined>(
  definition: EndpointDefinition<Body, Query, Params, Admitted>,
): Endpoint {
  const errors = [...gateErrors(definition), ...(definition.errors ?? []), 'internal' as const];
  const isPersonal = definition.method === 'get' && definition.credentials?.some((one) => one !== 'none');
  return {
    method: definition.method,
    path: definition.path,
    rest: definition.rest ?? false,
    group: definition.group,
    errors: new Set(errors),
    openapi: (dialect) => describe(definition, errors, dialect),
    dialect: definition.dialect,
    price: definition.price ?? null,
    maxBodyBytes: definition.maxBodyBytes,
    handle: inTermsOf(definition, async (exchange, frame: Frame) => {
      const { c, headers } = exchange;
      // Not every credential is in `Authorization`, the one header that makes caches careful (RFC 9111, section 3.5).
      if (isPersonal) headers['cache-control'] = 'private, no-store';
      const place = await enter(definition, exchange, {
        params: c.req.param(),
        query: definition.query === undefined ? {} : singleQuery(c),
      });
      if (definition.makes && c.req.method === 'HEAD') return headOf(definition);
      const { stream } = definition;
      if (stream !== undefined && hasMediaType(c, stream.mediaType)) {
        return stream.handle({ ...exchange, ...place, chunks: bodyChunks(c, frame.bodies) });
      }
      const bytes = definition.maxBodyBytes ?? frame.maxBodyBytes;
      const read = definition.body && (await readJson(c, { ...frame.bodies, bytes }, stream?.mediaType));
      const body = definition.body && read && validate(definition.body, read.json, namesOf(definition.query));
      const rawBody = read?.raw ?? NO_BYTES;
      const bodyText = (): string => new TextDecoder().decode(rawBody);
      return definition.handle({ ...exchange, ...place, body: body as Body, rawBody, bodyText });
    }),
    answer: inTermsOf(definition, async (exchange, given: RequestParts) => {
      const place = await enter(definition, exchange, given);
      const body = definition.body && validate(definition.body, given.body);
      const { rawBody } = given;
      const bodyText = (): string => JSON.stringify(given.body);
      return definition.handle({ ...exchange, ...place, body: body as Body, rawBody, bodyText });
    }),
  };
}

/** The headers that are known before the body is made (RFC 9110, section 9.3.2). */
function headOf({ answers }: { readonly answers: Readonly<Record<number, AnswerDocs>> }): Answer {
  return { status: 200, body: null, contentType: answers[200]?.contentType ?? 'application/json' };
}

/** @throws invalid_field for a parameter that is given twice, since only one of them would count */
function singleQuery({ req }: Exchange['c']): Readonly<Record<string, string>> {
  for (const [name, values] of Object.entries(req.queries())) {
    if (values.length === 1) continue;
    throw new TallyError('invalid_field', `${name} is given ${values.length} times. Give it only once.`, {
      field: name,
    });
  }
  return req.query();
}

/** Checks a call before its body is read. */
async function enter<Query, Params, Admitted>(
  definition: Pick<EndpointDefinition<never, Query, Params, Admitted>, 'params' | 'query' | 'admit'>,
  exchange: Exchange,
  given: Pick<RequestParts, 'params' | 'query'>,
): Promise<{ params: Params; query: Query; admitted: Admitted }> {
  const params = (definition.params && validate(definition.params, given.params)) as Params;
  const admitted = (definition.admit && (await definition.admit({ ...exchange, params }))) as Admitted;
  const query = (definition.query && validate(definition.query, given.query)) as Query;
  return { params, query, admitted };
}

function inTermsOf<Source>(
  { dialect }: { readonly dialect?: Dialect },
  handle: (exchange: Exchange, source: Source) => Promise<Answer>,
): (exchange: Exchange, source: Source) => Promise<Answer> {
  if (dialect === undefined) return handle;
  return async (exchange, source) => {
    try {
      return await handle(exchange, source);
    } catch (error) {
      if (!(error instanceof TallyError) || !isFieldError(error.code)) throw error;
      throw new TallyError('invalid_request', error.message, { field: error.field });
    }
  };
}

function isFieldError(code: ErrorCode): boolean {
  return FIELD_ERRORS.some((known) => known === code);
}

const NO_BYTES = new Uint8Array();

const FIELD_ERRORS = ['missing_field', 'unknown_field', 'invalid_field'] as const;

const BODY_ERRORS = [
  'unsupported_media_type',
  'body_too_large',
  'request_timeout',
  'client_closed',
  'json_empty',
  'json_not_utf8',
  'json_bom',
  'json_syntax',
  'json_duplicate_member',
  'json_lone_surrogate',
  'json_noncharacter',
  'json_number_range',
  'json_integer_range',
  'json_depth',
] as const;

function gateErrors<B, Q, P, A>(definition: EndpointDefinition<B, Q, P, A>): ErrorCode[] {
  const { body, query, params, dialect, price } = definition;
  const checked = body !== undefined || query !== undefined || params !== undefined;
  const ofFields: readonly ErrorCode[] = dialect === undefined ? FIELD_ERRORS : ['invalid_request'];
  return [
    ...(body === undefined ? [] : BODY_ERRORS),
    ...(checked ? ofFields : []),
    ...(price === undefined ? [] : PRICE_ERRORS),
  ];
}

function describe<B, Q, P, A>(
  definition: EndpointDefinition<B, Q, P, A>,
  errors: readonly ErrorCode[],
  dialect: Dialect | undefined,
) {
  const { method, path, operationId, group, summary, availability, body, stream, example, price } =
    definition;
  const { credentials = [] } = definition;
  const text = textOf(definition);
  const headers = Object.entries({ ...definition.headers, ...(price && PRICE_HEADERS) });
  const carried = headersOfCredentials(credentials);
  return createRoute({
    method,
    path,
    operationId,
    tags: [group],
    summary,
    ...(text === '' ? {} : { description: text }),
    security: securityOf(credentials),
    'x-availability': availability,
    ...(price === undefined ? {} : { 'x-price': price }),
    request: {
      ...(definition.params === undefined ? {} : { params: definition.params }),
      ...(definition.query === undefined ? {} : { query: definition.query }),
      ...(body === undefined && stream === undefined
        ? {}
        : {
            body: {
              required: true,
              content: {
                ...(body && {
                  'application/json': { schema: body, ...(example === undefined ? {} : { example }) },
                }),
                ...(stream && streamContent(stream)),
              },
            },
          }),
    },
    parameters: headers
      .filter(([name]) => !isNoParameter(name) && !carried.has(name.toLowerCase()))
      .map(([name, text]) => ({ in: 'header', name, description: text, schema: { type: 'string' } })),
    responses: {
      ...answerResponses(definition.answers, price),
      ...problemResponses(errors, dialect),
    },
  });
}

/** Whether OpenAPI describes the header in another way than as a parameter (3.1.1, section 4.12.2.1). */
function isNoParameter(name: string): boolean {
  return ['accept', 'authorization', 'content-type'].includes(name.toLowerCase());
}

/** The description, with a paragraph on each header that is not a parameter. */
function textOf({
  description,
  headers = {},
}: Pick<EndpointDefinition<never, never, never, never>, 'description' | 'headers'>): string {
  const notes = Object.entries(headers)
    .filter(([name]) => isNoParameter(name))
    .map(([name, text]) => `\`${name}\`: ${text}`);
  return [...(description === undefined ? [] : [description]), ...notes].join('\n\n');
}

function streamContent<Q, P, A>({ mediaType, description, example }: StreamDefinition<Q, P, A>) {
  const text = example !== undefined;
  const schema = { type: 'string' as const, ...(!text && { format: 'binary' }), description };
  return { [mediaType]: { schema, ...(text && { example }) } };
}

function answerResponses(answers: Readonly<Record<number, AnswerDocs>>, price: EndpointPrice | undefined) {
  return Object.fromEntries(
    Object.entries(answers).map(
      ([status, { description, schema, contentType = 'application/json', otherwise = {}, headers = {} }]) => [
        status,
        {
          description,
          headers: Object.fromEntries(
            Object.entries({ ...headers, ...(price && PAYMENT_RESPONSE_HEADER) }).map(([name, text]) => [
              name,
              { description: text, schema: { type: 'string' as const } },
            ]),
          ),
          ...(schema === undefined
            ? {}
            : {
                content: Object.fromEntries(
                  [[contentType, schema] as const, ...Object.entries(otherwise)].map(([type, schema]) => [
                    type,
                    { schema },
                  ]),
                ),
              }),
        },
      ],
    ),
  );
}
