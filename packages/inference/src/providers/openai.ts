import type { JsonObject } from '@tallystick/core';
import type { SpokenProtocol } from '../protocols/protocol.ts';
import { splice } from '../protocols/splice.ts';
import { maxEventLength, parseEvent, readEvents, readObject, startStream } from './answers.ts';
import { badAnswer, cut } from './failures.ts';
import { asObject, objectsOf } from './members.ts';
import { nativeAnswer } from './native.ts';
import { openaiRequest } from './openai-request.ts';
import { inWordsOf } from './openai-words.ts';
import type { ChatCall, PromptShape, Provider, StreamChunk } from './provider.ts';
import { type Reply } from './reply.ts';
import { openUpstream, type Upstream, type UpstreamOptions } from './upstream.ts';
import { readUsage } from './usage.ts';

/** The tokens of a chat template that marks the role of each message and the beginning of the answer, as OpenAI counts them. */
export function chatMlTokens({ messages }: PromptShape): number {
  return 4 * messages + 3;
}

/** Any API that speaks OpenAI's chat completions and embeddings. */
export function openaiProvider(options: UpstreamOptions): Provider {
  return openaiProviderOf(options, openUpstream(options), (_model, operation) => `/${operation}`);
}

/**
 * A provider that answers as OpenAI does. Chunks of a stream keep their bytes, except for `svc`.
 * @param pathOf the path of an operation of a model
 */
export function openaiProviderOf(
  { name, speaks, baseUrl }: Pick<UpstreamOptions, 'name' | 'speaks' | 'baseUrl'>,
  { post, failure, limitedMs, close }: Upstream,
  pathOf: (model: string, operation: 'chat/completions' | 'embeddings' | SpokenProtocol) => string,
): Provider {
  const requireShape = (answer: JsonObject, list: 'choices' | 'data'): JsonObject => {
    const error = asObject(answer['error']);
    if (error !== null) throw failure(error);
    if (!Array.isArray(answer[list])) throw badAnswer(name);
    return answer;
  };

  /**
   * Ends with `[DONE]`, or, if a provider leaves that out, with the body after a choice has finished. Chunks before the first
   * that says anything come together with it, since until then the call may go to another provider: the role alone, what
   * Azure says of the prompt, and the usage, which may be all that comes.
   */
  async function* chunks(reply: Reply): AsyncGenerator<StreamChunk> {
    const held: StreamChunk[] = [];
    let heldLength = 0;
    let begun = false;
    let done = false;
    let finished = false;
    try {
      for await (const { data } of readEvents(name, reply)) {
        done = data.trim() === '[DONE]';
        if (done) break;
        const json = requireShape(parseEvent(name, data), 'choices');
        const choices = objectsOf(json['choices']);
        finished ||= choices.some(isFinished);
        begun ||= choices.some((choice) => isFinished(choice) || says(choice));
        const chunk = Object.hasOwn(json, 'svc') ? withoutSvc(data, json) : { text: data, json };
        if (begun) {
          if (held.length > 0) yield* held.splice(0);
          if (chunk !== null) yield chunk;
        } else {
          if (chunk !== null) held.push(chunk);
          heldLength += data.length;
          if (heldLength > maxEventLength) throw badAnswer(name);
        }
      }
      if (!begun) throw badAnswer(name);
      if (!done && !finished) throw cut(name);
    } finally {
      reply.close(done || finished);
    }
  }

  return {
    name,
    templateTokens: chatMlTokens,
    speaks: new Set(speaks),
    limitedMs,
    async chat({ body, native, ...call }: ChatCall) {
      if (native !== undefined) {
        const streamed = body['stream'] === true;
        const { text, headers, form } = native;
        const path = pathOf(call.model, form.protocol);
        const reply = await post(path, text, { ...call, streamed, headers });
        return nativeAnswer({ name, failure }, native, reply, streamed);
      }
      const path = pathOf(call.model, 'chat/completions');
      const sent = inWordsOf(baseUrl, { ...inWords(body, call), model: call.model });
      const reply = await post(path, sent, call);
      if (body['stream'] === true) return { kind: 'stream', chunks: await startStream(name, chunks(reply)) };
      const answer = requireShape(await readObject(name, reply), 'choices');
      if (objectsOf(answer['choices']).length === 0) throw badAnswer(name);
      return { kind: 'complete', body: answer, usage: readUsage(answer) };
    },
    async embed({ body, ...call }) {
      const reply = await post(pathOf(call.model, 'embeddings'), { ...body, model: call.model }, call);
      const answer = requireShape(await readObject(name, reply), 'data');
      return { body: answer, usage: readUsage(answer) };
    },
    close,
  };
}

function isFinished({ finish_reason: reason }: JsonObject): boolean {
  return typeof reason === 'string';
}

/** Whether a choice of a chunk has more than the role. */
function says({ delta }: JsonObject): boolean {
  const { role: _role, ...said } = asObject(delta) ?? {};
  return Object.values(said).some((value) => (Array.isArray(value) ? value.length > 0 : !!value));
}

/** A chunk without `svc`, which a provider that is itself a Tallystick service sends. Null if nothing else was in it. */
function withoutSvc(text: string, { svc: _svc, ...json }: JsonObject): StreamChunk | null {
  const isEmpty = objectsOf(json['choices']).length === 0 && asObject(json['usage']) === null;
  return isEmpty ? null : { text: splice(text, [{ path: ['svc'], value: undefined }]), json };
}

function inWords(body: JsonObject, { translated }: Pick<ChatCall, 'translated'>): JsonObject {
  return translated === undefined ? body : openaiRequest(body, translated.reasons);
}
