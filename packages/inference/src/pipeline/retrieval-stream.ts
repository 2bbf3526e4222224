import type { JsonObject, JsonValue } from '@tallystick/core';
import type { Model } from '../catalogue/catalogue.ts';
import { RETRIEVE } from '../compression/retrieve-tool.ts';
import { CallPieces } from '../protocols/call-pieces.ts';
import { asObject, asText, objectsOf } from '../providers/members.ts';
import { ProviderError, type StreamChunk } from '../providers/provider.ts';
import { formatUsage, isUsageChunk, readUsage } from '../providers/usage.ts';
import type { Reported } from '../types.ts';
import { Delivered } from './delivered-text.ts';
import type { Retrieval } from './retrieval.ts';
import { totalOf } from './rounds.ts';

type Chunks = AsyncIterable<StreamChunk>;

/** Members of reasoning that come in pieces. */
const JOINED: ReadonlySet<string> = new Set(['text', 'summary']);

/** A tool call, joined from its pieces. */
interface Gathered {
  readonly id: string;
  readonly name: string;
  arguments: string;
  /** Its index among the caller's own calls; null for `svc_retrieve`. */
  readonly shown: number | null;
}

/**
 * The stream for the caller: without calls of `svc_retrieve`, which are answered here, and with the model's answer
 * after them. Everything else passes at once, with its bytes unchanged while nothing was left out. It ends with one
 * chunk with the usage of all rounds.
 */
export async function* retrieveStream(retrieval: Retrieval, first: Chunks): AsyncGenerator<StreamChunk> {
  let head: JsonObject | null = null;
  let answer = first;
  for (;;) {
    const round = new Round(head, retrieval.model.tokenizer);
    const budget = retrieval.budget();
    for await (const chunk of answer) {
      budget.take(chunk.text);
      if (round.delivered.isFull) await round.delivered.settle();
      yield* round.pass(chunk);
    }
    head ??= round.head;
    const goesOn = round.isHidden && retrieval.mayGoOn;
    if (!goesOn) {
      retrieval.last = { usage: round.usage, delivered: round.delivered };
      if (round.isHidden) yield round.end();
      if (round.usageChunk !== null) yield withTotal(round.usageChunk, retrieval, head);
      return;
    }
    const next = await retrieval.goOn(round.turn(), round.usage, round.delivered);
    if (next.kind === 'complete') throw new ProviderError('bad_answer', 'no stream');
    answer = next.chunks;
  }
}

/** One stream of a provider. */
class Round {
  /** A chunk of the first round, whose id and name later rounds use; null in the first round. */
  readonly #before: JsonObject | null;
  readonly #calls: Gathered[] = [];
  readonly #pieces = new CallPieces<Gathered>();
  #head: JsonObject = {};
  #text = '';
  /** The model's reasoning, joined from its pieces. */
  readonly #details: JsonObject[] = [];
  usage: Reported = null;
  usageChunk: StreamChunk | null = null;
  readonly delivered: Delivered;

  constructor(before: JsonObject | null, tokenizer: Model['tokenizer']) {
    this.#before = before;
    this.delivered = new Delivered(tokenizer);
  }

  get head(): JsonObject {
    return this.#before ?? this.#head;
  }

  /** Whether the model only asked for removed text. */
  get isHidden(): boolean {
    return this.#calls.length > 0 && this.#calls.every(({ shown }) => shown === null);
  }

  /** The part of a chunk that the caller gets. */
  *pass(chunk: StreamChunk): Generator<StreamChunk> {
    const { json } = chunk;
    this.delivered.add(json);
    if (Object.keys(this.#head).length === 0) this.#head = json;
    const reported = readUsage(json, chunk.unseen);
    this.usage = reported ?? this.usage;
    if (isUsageChunk(json)) {
      if (reported !== null) this.usageChunk = chunk;
      return;
    }
    const [choice] = objectsOf(json['choices']);
    const delta = asObject(choice?.['delta']);
    if (choice === undefined || delta === null) {
      yield chunk;
      return;
    }
    this.#text += asText(delta['content']) ?? '';
    for (const detail of objectsOf(delta['reasoning_details'])) this.#think(detail);
    const shown = this.#shownOf(delta, choice['finish_reason'] ?? null);
    if (shown === null) return;
    if (shown === 'whole' && this.#before === null) yield chunk;
    else yield this.#rewritten(json, choice, shown === 'whole' ? delta : shown);
  }

  /** The end of an answer that may not ask again. */
  end(): StreamChunk {
    return this.#rewritten(this.#head, { index: 0, finish_reason: 'stop' }, {});
  }

  /** The model's answer as a message. */
  turn(): JsonObject {
    return {
      role: 'assistant',
      content: this.#text === '' ? null : this.#text,
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      tool_calls: this.#calls.map(({ id, name, arguments: given }) => ({
        id,
        type: 'function',
        function: { name, arguments: given },
      })),
    };
  }

  /** Pieces of the same reasoning have the same index and type. */
  #think(piece: JsonObject): void {
    const last = this.#details.at(-1);
    const continues = piece['index'] !== undefined && last?.['index'] === piece['index'];
    if (last === undefined || !continues || last['type'] !== piece['type']) this.#details.push({ ...piece });
    else
      for (const [name, value] of Object.entries(piece))
        last[name] = JOINED.has(name) ? `${asText(last[name]) ?? ''}${asText(value) ?? ''}` : value;
  }

  /** The delta to pass on: whole, reduced, or null for none. */
  #shownOf(delta: JsonObject, finish: JsonValue): JsonObject | 'whole' | null {
    const pieces = objectsOf(delta['tool_calls']);
    const shown = pieces.flatMap((piece, position) => this.#gather(piece, position));
    const isWhole = shown.every((piece, index) => piece === pieces[index]) && shown.length === pieces.length;
    const { tool_calls: _calls, role, ...rest } = delta;
    const isEmpty = Object.values(rest).every((value) => value === null || value === '');
    // A later round begins like a new answer, but the caller has had that beginning.
    const isBeginning = this.#before !== null && role !== undefined && finish === null;
    if (isEmpty && shown.length === 0 && (pieces.length > 0 || isBeginning)) return null;
    if (finish !== null && this.isHidden) return isEmpty ? null : rest;
    if (isWhole && !isBeginning) return 'whole';
    return { ...rest, ...(shown.length > 0 && { tool_calls: shown }) };
  }

  /** Takes a piece of a tool call; returns it if the caller is to see it. */
  #gather(piece: JsonObject, position: number): JsonObject[] {
    const called = asObject(piece['function']);
    const call = this.#pieces.of(piece, position, (id) => this.#begin(id, asText(called?.['name']) ?? ''));
    call.arguments += asText(called?.['arguments']) ?? '';
    if (call.shown === null) return [];
    return [call.shown === (piece['index'] ?? 0) ? piece : { ...piece, index: call.shown }];
  }

  #begin(id: string, name: string): Gathered {
    const own = this.#calls.filter(({ shown }) => shown !== null).length;
    const call = { id, name, arguments: '', shown: name === RETRIEVE ? null : own };
    this.#calls.push(call);
    return call;
  }

  #rewritten(json: JsonObject, choice: JsonObject, delta: JsonObject): StreamChunk {
    const finish = this.isHidden && choice['finish_reason'] === 'tool_calls' ? null : choice['finish_reason'];
    const choices = [{ ...choice, delta, finish_reason: finish ?? null }];
    return chunkOf({ ...json, ...named(this.head), choices });
  }
}

function withTotal(chunk: StreamChunk, { spent }: Retrieval, head: JsonObject): StreamChunk {
  const last = readUsage(chunk.json);
  const [first, ...more] = spent;
  if (first === undefined || last === null || last === 'malformed') return chunk;
  return chunkOf({ ...chunk.json, ...named(head), usage: formatUsage(totalOf([first, ...more, last])) });
}

function named({ id = '', created = 0 }: JsonObject): JsonObject {
  return { id, created };
}

function chunkOf(json: JsonObject): StreamChunk {
  return { text: JSON.stringify(json), json };
}
