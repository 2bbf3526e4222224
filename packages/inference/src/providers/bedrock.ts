import type { JsonObject } from '@tallystick/core';
import { awsCredentials } from '@tallystick/issuers';
import { AwsV4Signer } from 'aws4fetch';
import { chunkOf, readObject, startStream } from './answers.ts';
import { ConverseStream, completionOf } from './bedrock-answer.ts';
import { converseRequest } from './bedrock-request.ts';
import { bodyToTranslate } from './body-to-translate.ts';
import { readEventMessages } from './event-stream.ts';
import { badAnswer, cut } from './failures.ts';
import { asObject, asText } from './members.ts';
import { type Provider, ProviderError, type StreamChunk } from './provider.ts';
import type { Reply } from './reply.ts';
import { openUpstream, type UpstreamOptions, type UpstreamWire } from './upstream.ts';

/** The HTTP status that an exception in a stream would have had. */
const statuses: Readonly<Record<string, number>> = {
  validationException: 400,
  modelTimeoutException: 408,
  throttlingException: 429,
  serviceUnavailableException: 503,
};

/**
 * Models at AWS Bedrock, by Converse and ConverseStream. An API key of Bedrock is sent as it is; without one, each request
 * is signed (Signature Version 4) with the operator's AWS credentials.
 */
export function bedrockProvider(options: UpstreamOptions): Provider {
  const { name } = options;
  const { post, failure, limitedMs, close } = openUpstream(options, {
    sign: signer(options),
    readError: errorOf,
  });

  async function* chunks(reply: Reply, model: string, created: number): AsyncGenerator<StreamChunk> {
    const stream = new ConverseStream(model, created);
    let begun = false;
    try {
      for await (const { type, isException, json } of readEventMessages(name, reply)) {
        if (isException) throw failure({ ...errorOf(json), status: statuses[type] ?? 500 });
        for (const chunk of stream.take(type, json)) yield chunkOf(chunk, stream.unseen);
        begun = true;
      }
      if (!stream.finished) throw begun ? cut(name) : badAnswer(name);
    } finally {
      reply.close(stream.finished);
    }
  }

  return {
    name,
    // System and developer messages are sent separately and are not turns.
    speaks: new Set(),
    templateTokens: ({ messages, instructions }) => 4 * (messages - instructions) + 3,
    limitedMs,
    async chat(call) {
      const { model } = call;
      const body = bodyToTranslate(call);
      const streamed = body['stream'] === true;
      const path = `/model/${encodeURIComponent(model)}/${streamed ? 'converse-stream' : 'converse'}`;
      const reply = await post(path, converseRequest(model, body), { ...call, streamed });
      const created = Math.floor(Date.now() / 1_000);
      if (streamed) return { kind: 'stream', chunks: await startStream(name, chunks(reply, model, created)) };
      const answer = await readObject(name, reply);
      if (asObject(answer['output']) === null) throw badAnswer(name);
      return { kind: 'complete', ...completionOf(answer, model, created) };
    },
    close,
  };
}

/** Signs requests for the region that is configured, else for the one that the address names. */
function signer({ name, baseUrl, signingRegion, aws }: UpstreamOptions): UpstreamWire['sign'] {
  if (aws === undefined) return undefined;
  const [, inUrl] = /bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(new URL(baseUrl).hostname) ?? [];
  const region = signingRegion ?? inUrl ?? 'us-east-1';
  const current = awsCredentials(aws, globalThis.fetch);
  return async ({ url, body }) => {
    const credentials = await current().catch(() => {
      throw new ProviderError('auth', `there are no AWS credentials for ${name}`);
    });
    const request = { ...credentials, method: 'POST', url, body, region, service: 'bedrock' };
    const { headers } = await new AwsV4Signer(request).sign();
    return { headers: Object.fromEntries(headers), secrets: Object.values(credentials) };
  };
}

/** Converts `{message}`; adds OpenAI's codes where clients act on them. */
function errorOf(body: JsonObject | null): JsonObject | null {
  const message = asText(body?.['message']) ?? asText(body?.['Message']);
  if (message === null) return null;
  const tooLong = /input is too long|too many input tokens|prompt is too long/i.test(message);
  const unknown = /model identifier is invalid/i.test(message);
  return {
    message,
    ...(tooLong && { code: 'context_length_exceeded' }),
    ...(unknown && { code: 'model_not_found' }),
  };
}
