import { sha256Hex, utf8 } from '@tallystick/core';
import type { Removal } from '../blocks/blocks.ts';

/** How cuts are shown in a block, so that nothing in the block itself can pass for them. */
export interface Marks {
  /** Names the block: 12 hex characters of the SHA-256 of its text, which the text cannot hold. */
  readonly id: string;
  /** The first line of the block: what was cut, how much, and how a gap looks. */
  readonly notice: (cut: Omit<Removal, 'id'>) => string;
  /** Stands in a gap of `count` units. */
  readonly gap: (count: number) => string;
}

const ID_LENGTH = 12;

/** A text that spells its own hash is not to be had; a text that spells the usual gap gets one with its id in it. */
export function marksOf(text: string): Marks {
  const id = idOf(text);
  const sign = /\[…\d/.test(text) ? `…${id}:` : '…';
  return {
    id,
    notice: ({ removed, of, unit, tokens }) =>
      `[cut ${id}: ${removed} of ${of} ${unit} (${tokens} tokens) left out; [${sign}n] stands for n of them]`,
    gap: (count) => `[${sign}${count}]`,
  };
}

/** The name of a block: equal texts have equal names, in every process. */
export function idOf(text: string): string {
  for (let hash = sha256Hex(utf8(text)); ; hash = sha256Hex(utf8(hash))) {
    const id = hash.slice(0, ID_LENGTH);
    if (!text.includes(id)) return id;
  }
}
