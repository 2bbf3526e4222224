import { type JsonObject, utf8 } from '@tallystick/core';
import type { InnerStream, SseEvent } from '../protocols/protocol.ts';
import { splice } from '../protocols/splice.ts';
import { parseObject, readEvents, readObject, startStream } from './answers.ts';
import { badAnswer, cut } from './failures.ts';
import { asText } from './members.ts';
import type { ChatAnswer, NativeCall, StreamChunk } from './provider.ts';
import type { Reply } from './reply.ts';

/** Who answers a native call, and how its reports of a failure become an error. */
interface NativeProvider {
  readonly name: string;
  readonly failure: (error: JsonObject) => Error;
}

/**
 * Reads the answer to a native call: in inner form, and as it came except for a member `svc`, which is this service's own.
 * @param streamed whether a stream was asked for
 * @throws ProviderError
 */
export async function nativeAnswer(
  provider: NativeProvider,
  { form }: Pick<NativeCall, 'form'>,
  reply: Reply,
  streamed: boolean,
): Promise<ChatAnswer> {
  const { name, failure } = provider;
  const created = Math.floor(Date.now() / 1_000);
  if (streamed)
    return { kind: 'stream', chunks: await startStream(name, nativeChunks(provider, form, reply, created)) };
  const { svc: _svc, ...native } = await readObject(name, reply);
  const error = form.errorIn(native);
  if (error !== null) throw failure(error);
  return { kind: 'complete', ...form.innerAnswer(name, native, created), native };
}

/** Events before the first inner chunk come together with it, since until then the call may go to another provider. */
async function* nativeChunks(
  { name, failure }: NativeProvider,
  form: NativeCall['form'],
  reply: Reply,
  created: number,
): AsyncGenerator<StreamChunk> {
  const stream = form.innerStream(name, created);
  let held: SseEvent[] = [];
  let begun = false;
  try {
    for await (const { data } of readEvents(name, reply)) {
      // The caller gets an event as it is, and verifiers take only I-JSON.
      const json = parseObject(name, utf8(data));
      const error = form.errorIn(json);
      if (error !== null) throw failure(error);
      const inner = stream.take(json);
      // Some servers name no event, or another way; clients and verifiers go by the name, which is the type.
      held.push(withoutSvc({ event: asText(json['type']), data: json, text: data }));
      begun ||= inner.length > 0;
      if (!begun) continue;
      yield* chunksOf(data, inner, held, stream);
      held = [];
      if (stream.ended) return;
    }
    throw begun ? cut(name) : badAnswer(name);
  } finally {
    reply.close(stream.ended);
  }
}

/** The last of an event's chunks has the events; without an inner chunk that is one that says nothing. */
function* chunksOf(
  text: string,
  inner: readonly JsonObject[],
  native: readonly SseEvent[],
  { ended, unseen }: Pick<InnerStream, 'ended' | 'unseen'>,
): Generator<StreamChunk> {
  const marks = unseen ? ({ unseen } as const) : {};
  for (const json of inner.slice(0, -1)) yield { text: '', json, native: [], ...marks };
  yield { text, json: inner.at(-1) ?? {}, native, ...marks, ...(ended && { last: true as const }) };
}

function withoutSvc(event: SseEvent): SseEvent {
  if (!Object.hasOwn(event.data, 'svc')) return event;
  const { svc: _svc, ...data } = event.data;
  return { ...event, data, text: splice(event.text ?? '', [{ path: ['svc'], value: undefined }]) };
}
