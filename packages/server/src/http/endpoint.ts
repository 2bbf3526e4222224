import { createRoute, type z } from '@hono/zod-openapi';
import type { ErrorCode, JsonValue } from '@tallystick/core';
import type { Answer } from './answer.ts';
import { bodyChunks, hasMediaType, readJson } from './body.ts';
import type { Exchange, Frame } from './exchange.ts';
import { problemResponses } from './problem-responses.ts';
import { validate } from './validate.ts';

/** How one status is answered, for the reference. */
interface AnswerDocs {
  readonly description: string;
  /** Of a JSON body, unless `contentType` says otherwise; absent when there is no body. */
  readonly schema?: z.ZodType;
  readonly contentType?: string;
  /** Response headers by name, with what each one says. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An endpoint as its author writes it; see `endpoint`. */
export interface EndpointDefinition<Body, Query, Params> {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** In OpenAPI's form: `/v1/receipt/{id}`. */
  readonly path: string;
  /** The last path parameter takes the whole rest of the path, slashes included. */
  readonly rest?: boolean;
  /** Heading under which the reference lists it. */
  readonly group: string;
  readonly summary: string;
  readonly description?: string;
  readonly availability: 'live' | 'pilot';
  /** Path parameters. */
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  /** The JSON body, made of `z.strictObject`; without it the body is not read. */
  readonly body?: z.ZodType<Body>;
  /** Another form of the body, of any length, that is handled as it comes. */
  readonly stream?: StreamDefinition<Query, Params>;
  /** Bytes of body allowed here when it is not the service's general limit. */
  readonly maxBodyBytes?: number;
  /** Request headers that mean something here, with what each one does. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A body that works, for the reference's curl line. */
  readonly example?: JsonValue;
  readonly answers: Readonly<Record<number, AnswerDocs>>;
  /** Codes that the handler can give; those of reading and checking the request are added. */
  readonly errors?: readonly ErrorCode[];
  readonly handle: (call: Call<Body, Query, Params>) => Answer | Promise<Answer>;
}

interface StreamDefinition<Query, Params> {
  /** `application/x-ndjson` */
  readonly mediaType: string;
  readonly description: string;
  readonly example: string;
  readonly handle: (call: StreamCall<Query, Params>) => Promise<Answer>;
}

/** A request whose body is still to be read, and has passed no gate. */
interface StreamCall<Query, Params> extends Exchange {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly query: Query;
  readonly params: Params;
}

/** A request that has passed the gate. */
interface Call<Body, Query, Params> extends Exchange {
  readonly body: Body;
  readonly query: Query;
  readonly params: Params;
}

/** An endpoint ready to be mounted, its body's type known only inside. */
export interface Endpoint {
  readonly method: EndpointDefinition<unknown, unknown, unknown>['method'];
  readonly path: string;
  readonly rest: boolean;
  readonly errors: ReadonlySet<ErrorCode>;
  readonly openapi: ReturnType<typeof createRoute>;
  readonly handle: (exchange: Exchange, frame: Frame) => Promise<Answer>;
}

/**
 * Defines an endpoint: what the reference says of it and what it does, in one object. To add one, copy a
 * neighbour in `routes/` and add it to the app's list.
 */
export function endpoint<Body = undefined, Query = undefined, Params = undefined>(
  definition: EndpointDefinition<Body, Query, Params>,
): Endpoint {
  const errors = [...gateErrors(definition), ...(definition.errors ?? []), 'internal' as const];
  return {
    method: definition.method,
    path: definition.path,
    rest: definition.rest ?? false,
    errors: new Set(errors),
    openapi: describe(definition, errors),
    handle: async (exchange, frame) => {
      const { c } = exchange;
      const params = check(definition.params, () => c.req.param()) as Params;
      const query = check(definition.query, () => c.req.query()) as Query;
      const { stream } = definition;
      if (stream !== undefined && hasMediaType(c, stream.mediaType)) {
        return stream.handle({ ...exchange, params, query, chunks: bodyChunks(c) });
      }
      const limit = definition.maxBodyBytes ?? frame.maxBodyBytes;
      const body = definition.body && validate(definition.body, await readJson(c, limit));
      return definition.handle({ ...exchange, params, query, body: body as Body });
    },
  };
}

function check<T>(schema: z.ZodType<T> | undefined, read: () => Record<string, string>): T | undefined {
  return schema === undefined ? undefined : validate(schema, read());
}

const FIELD_ERRORS = ['missing_field', 'unknown_field', 'invalid_field'] as const;

const BODY_ERRORS = [
  'unsupported_media_type',
  'body_too_large',
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

function gateErrors<B, Q, P>({ body, query, params }: EndpointDefinition<B, Q, P>): ErrorCode[] {
  const checked = body !== undefined || query !== undefined || params !== undefined;
  return [...(body === undefined ? [] : BODY_ERRORS), ...(checked ? FIELD_ERRORS : [])];
}

function describe<B, Q, P>(definition: EndpointDefinition<B, Q, P>, errors: readonly ErrorCode[]) {
  const { method, path, group, summary, description, availability, body, stream, example } = definition;
  return createRoute({
    method,
    path,
    tags: [group],
    summary,
    ...(description === undefined ? {} : { description }),
    'x-availability': availability,
    request: {
      ...(definition.params === undefined ? {} : { params: definition.params as never }),
      ...(definition.query === undefined ? {} : { query: definition.query as never }),
      ...(body === undefined
        ? {}
        : {
            body: {
              required: true,
              content: {
                'application/json': { schema: body, ...(example === undefined ? {} : { example }) },
                ...(stream === undefined ? {} : streamContent(stream)),
              },
            },
          }),
    },
    parameters: Object.entries(definition.headers ?? {}).map(([name, text]) => ({
      in: 'header',
      name,
      description: text,
      schema: { type: 'string' },
    })),
    responses: { ...answerResponses(definition.answers), ...problemResponses(errors) },
  });
}

function streamContent<Q, P>({ mediaType, description, example }: StreamDefinition<Q, P>) {
  return { [mediaType]: { schema: { type: 'string' as const, description }, example } };
}

function answerResponses(answers: Readonly<Record<number, AnswerDocs>>) {
  return Object.fromEntries(
    Object.entries(answers).map(
      ([status, { description, schema, contentType = 'application/json', headers = {} }]) => [
        status,
        {
          description,
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, text]) => [
              name,
              { description: text, schema: { type: 'string' as const } },
            ]),
          ),
          ...(schema === undefined ? {} : { content: { [contentType]: { schema } } }),
        },
      ],
    ),
  );
}
