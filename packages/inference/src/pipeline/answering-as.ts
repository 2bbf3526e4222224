import type { JsonObject, JsonValue } from '@tallystick/core';
import type { Model } from '../catalogue/catalogue.ts';
import type { SseEvent } from '../protocols/protocol.ts';
import { type JsonPath, splice } from '../protocols/splice.ts';
import { asObject } from '../providers/members.ts';
import type { Provider, StreamChunk } from '../providers/provider.ts';

/**
 * A provider whose answers name the model as the catalogue does, so that a caller can request what it reads. Everything
 * else passes unchanged; chunks keep their bytes.
 */
export function answeringAs({ id }: Pick<Model, 'id'>, provider: Provider): Provider {
  const { name, speaks } = provider;
  const embed = provider.embed?.bind(provider);
  return {
    name,
    speaks,
    templateTokens: (shape) => provider.templateTokens(shape),
    async chat(call) {
      const paths = call.native?.form.modelPaths ?? [];
      const answer = await provider.chat(call);
      if (answer.kind === 'stream') return { kind: 'stream', chunks: renamed(answer.chunks, id, paths) };
      const { native } = answer;
      return {
        ...answer,
        body: { ...answer.body, model: id },
        ...(native !== undefined && {
          native: paths.reduce((body, path) => replaced(body, path, id), native),
        }),
      };
    },
    ...(embed !== undefined && {
      async embed(call) {
        const answer = await embed(call);
        return { ...answer, body: { ...answer.body, model: id } };
      },
    }),
    close: () => provider.close(),
  };
}

/** One promise per chunk: a generator between two others would take several. */
function renamed(
  chunks: AsyncIterable<StreamChunk>,
  id: string,
  paths: readonly JsonPath[],
): AsyncIterable<StreamChunk> {
  return {
    [Symbol.asyncIterator]() {
      const source = chunks[Symbol.asyncIterator]();
      const renameOwn = renamer(id);
      const rename = (chunk: StreamChunk): StreamChunk =>
        chunk.native === undefined
          ? renameOwn(chunk)
          : { ...chunk, native: chunk.native.map((event) => renamedEvent(event, paths, id)) };
      return {
        async next() {
          const step = await source.next();
          return step.done === true ? step : { done: false, value: rename(step.value) };
        },
        async return() {
          await source.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** An event of a provider that speaks the caller's protocol, with the model's name at each of the paths replaced. */
function renamedEvent(event: SseEvent, paths: readonly JsonPath[], id: string): SseEvent {
  const data = paths.reduce((rest, path) => replaced(rest, path, id), event.data);
  if (data === event.data) return event;
  const edits = paths.map((path) => ({ path, value: id }));
  return { ...event, data, ...(event.text !== undefined && { text: splice(event.text, edits) }) };
}

/** The object with another text at the path; the object itself if there is no text. */
function replaced(object: JsonObject, [step, ...path]: JsonPath, text: string): JsonObject {
  if (step === undefined) return object;
  const value = object[step];
  if (path.length === 0) return typeof value === 'string' ? { ...object, [step]: text } : object;
  const inner = asObject(value);
  const changed = inner && replaced(inner, path, text);
  return changed === inner || changed === null ? object : { ...object, [step]: changed };
}

const NAME = '"model"';

/** A member `model` and its value. Within a string the quotes would be escaped. */
const MODEL = /"model"\s*:\s*("(?:[^"\\]|\\.)*")/g;

/** The start of a letter of the word `model` that is written as an escape. */
const ESCAPED = '\\u006';

/**
 * Makes the function that renames the model in one stream's chunks. A chunk without a model stays without one. Most
 * chunks begin as the one before did, up to the end of the name, so the name is searched only where the beginning
 * differs.
 */
export function renamer(id: string): (chunk: StreamChunk) => StreamChunk {
  const name = JSON.stringify(id);
  let head = '';
  let renamedHead = '';
  return (chunk) => {
    const { text, json } = chunk;
    const { model } = json;
    if (model === undefined || model === id) return chunk;
    const changed: JsonObject = { ...json, model: id };
    if (head === '' || !text.startsWith(head)) {
      const place = placeOf(text, model);
      // Members may come in any order, and the value may be no text.
      if (place === null) return { ...chunk, text: JSON.stringify(changed), json: changed };
      head = text.slice(0, place.end);
      renamedHead = text.slice(0, place.start) + name;
    }
    const rest = text.slice(head.length);
    const unsure = rest.includes(NAME) || rest.includes(ESCAPED);
    return { ...chunk, text: unsure ? JSON.stringify(changed) : renamedHead + rest, json: changed };
  };
}

/** The range of the value of the object's own member `model`; null if that is not certain. */
function placeOf(text: string, model: JsonValue): { start: number; end: number } | null {
  const [found, ...others] = text.matchAll(MODEL);
  const value = found?.[1];
  // A nested object may have a member of that name too, and the letters of a name may be escaped.
  if (found === undefined || value === undefined || others.length > 0 || text.includes(ESCAPED)) return null;
  if (JSON.parse(value) !== model) return null;
  const end = found.index + found[0].length;
  return { start: end - value.length, end };
}
