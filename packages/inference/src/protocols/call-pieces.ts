import type { JsonObject } from '@tallystick/core';
import { asText } from '../providers/members.ts';

/**
 * Puts the pieces of a stream's tool calls together. They have the index of their call, but some providers give every
 * call the same index or none, so that only another id tells that a new call begins.
 */
export class CallPieces<Call> {
  readonly #open = new Map<number, { readonly id: string; readonly call: Call }>();

  /**
   * The call that a piece belongs to.
   * @param position among the pieces of its chunk: its index, if it has none
   * @param begin makes a call whose first piece this is, of an id that may be empty
   */
  of(piece: JsonObject, position: number, begin: (id: string, index: number) => Call): Call {
    const index = typeof piece['index'] === 'number' ? piece['index'] : position;
    const id = asText(piece['id']) ?? '';
    const open = this.#open.get(index);
    if (open !== undefined && (id === '' || open.id === '' || id === open.id)) return open.call;
    const call = begin(id, index);
    this.#open.set(index, { id, call });
    return call;
  }
}
