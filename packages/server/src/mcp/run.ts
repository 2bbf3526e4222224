import type { CallToolResult } from '@modelcontextprotocol/server';
import { type JsonObject, TallyError } from '@tallystick/core';
import type { Answer } from '../http/answer.ts';
import type { Endpoint, RequestParts } from '../http/endpoint.ts';
import { type Exchange, exchangeOf } from '../http/exchange.ts';
import { refusalHeaders } from '../http/fact-headers.ts';
import { isFault, toProblem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import type { Tool, ToolCall } from './prepare.ts';

type Needs = Pick<Services, 'config' | 'logger' | 'metrics'>;

/** The HTTP request that a message of the protocol came in. */
export interface Carrier {
  readonly exchange: Exchange;
  readonly rawBody: Uint8Array;
  /** Aborts when the client closes the connection before its answer is complete. */
  readonly left: AbortSignal;
}

/** Key under which a result has what the HTTP interface says in headers. */
const HEADERS = 'tallystick/headers';

/**
 * Runs a tool. An error of its endpoint becomes a tool error whose text is the problem document.
 * @param cancelled aborts when the client cancels the call
 */
export async function runTool(
  services: Needs,
  { definition, read }: Tool,
  {
    given,
    carrier,
    cancelled,
  }: { readonly given: unknown; readonly carrier: Carrier; readonly cancelled: AbortSignal },
): Promise<CallToolResult> {
  const started = performance.now();
  const place = { method: 'MCP', route: definition.name };
  const { c, requestId, record } = carrier.exchange;
  const exchange = exchangeOf(c, record);
  const done = (status: number): void =>
    services.metrics.observe(place, status, (performance.now() - started) / 1_000);
  try {
    const answer = await callTool(services, read(given), { carrier, cancelled, exchange });
    done(answer.status);
    return resultOf(answer, exchange.headers);
  } catch (thrown) {
    const problem = toProblem(thrown, { receiptsUrl: services.config.receiptsUrl, requestId });
    exchange.incoming.tell({ code: problem.code });
    services.metrics.refused(place, problem.code);
    if (isFault(thrown)) {
      const { traceId, facts } = record;
      services.logger.error(
        { requestId, traceId: traceId ?? undefined, ...place, ...facts, err: thrown },
        'tool failed',
      );
    }
    done(problem.status);
    const headers = { ...exchange.headers, ...refusalHeaders(thrown) };
    return { isError: true, content: [textOf(JSON.stringify(problem))], ...metaOf(headers) };
  }
}

/** Calls an endpoint on behalf of the carrier's client, whom the carrier's headers identify. */
export function answerOf(
  endpoint: Endpoint,
  given: Omit<RequestParts, 'rawBody'>,
  { rawBody }: Pick<Carrier, 'rawBody'>,
  exchange: Exchange,
): Promise<Answer> {
  return endpoint.answer(exchange, { ...given, rawBody });
}

async function callTool(
  { config }: Needs,
  { endpoint, given, idempotencyKey }: ToolCall,
  { carrier, cancelled, exchange }: { carrier: Carrier; cancelled: AbortSignal; exchange: Exchange },
): Promise<Answer> {
  const limit = endpoint.maxBodyBytes ?? config.maxBodyBytes;
  if (carrier.rawBody.byteLength > limit) {
    throw new TallyError(
      'body_too_large',
      `The body of a call of this tool may have at most ${limit} bytes.`,
    );
  }
  const signal = AbortSignal.any([carrier.left, cancelled]);
  // A request carries one message, so that nothing else reads this.
  carrier.exchange.c.set('inner', { idempotencyKey, signal });
  return answerOf(endpoint, given, carrier, exchange);
}

/** The text of an answer that is JSON. */
export function bodyText({ body }: Answer): string {
  if (typeof body === 'string') return body;
  throw new Error('The endpoint of a tool or resource answered with something that is not text.');
}

function resultOf(answer: Answer, headers: Record<string, string>): CallToolResult {
  const text = bodyText(answer);
  return {
    content: [textOf(text)],
    structuredContent: JSON.parse(text) as JsonObject,
    ...metaOf({ ...headers, ...answer.headers }),
  };
}

function textOf(text: string): CallToolResult['content'][number] {
  return { type: 'text', text };
}

function metaOf(headers: Record<string, string>): Pick<CallToolResult, '_meta'> {
  return Object.keys(headers).length === 0 ? {} : { _meta: { [HEADERS]: headers } };
}
