import {
  type EvidenceSummary,
  type EvidenceTally,
  type JsonObject,
  type JsonValue,
  LineReader,
  lineName,
  parseLine,
  TallyError,
} from '@tallystick/core';

const BILL_BYTES = 65_536;
const LEAF_BYTES = 512;

/** What a stream of lines held: the bill of its first line, and the summary of the leaves on the others. */
export interface MeteredLines {
  readonly bill: JsonObject;
  readonly evidence: EvidenceSummary;
}

export interface LineOptions {
  /** Checks the value of the first line. */
  readonly readBill: (value: JsonValue) => JsonObject;
  readonly openTally: (bill: JsonObject) => EvidenceTally;
  readonly budget: LeafBudget;
}

/**
 * Reads a bill (the first line, at most 64 KiB) and its evidence (a leaf a line, at most 512 bytes) as they come.
 * Of a leaf nothing is kept but what tells a second one.
 * @throws json_empty without any line; json_* and body_too_large with the line in `field`; what `readBill`,
 * `openTally` and `EvidenceTally.addJson` throw; unavailable when the budget is used up
 */
export async function readMeteredLines(
  chunks: AsyncIterable<Uint8Array>,
  { readBill, openTally, budget }: LineOptions,
): Promise<MeteredLines> {
  let open: { bill: JsonObject; tally: EvidenceTally } | undefined;
  const lines = new LineReader(
    (line, number) => {
      if (open !== undefined) {
        open.tally.addJson(line, lineName(number));
        return;
      }
      const bill = readBill(parseLine(line, lineName(number)));
      open = { bill, tally: openTally(bill) };
    },
    (number) => (number === 1 ? BILL_BYTES : LEAF_BYTES),
  );
  const share = budget.share();
  try {
    for await (const chunk of chunks) {
      lines.push(chunk);
      share.holds(open?.tally.backed ?? 0);
    }
    lines.end();
  } finally {
    share.holds(0);
  }
  if (open === undefined) throw new TallyError('json_empty', 'Send the bill on the first line.');
  return { bill: open.bill, evidence: open.tally.summary() };
}

/** Bounds the leaves that all streams together hold in memory: 43 bytes each. */
export class LeafBudget {
  readonly #limit: number;
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** One stream's part of it. `holds(n)` says how many leaves the stream holds now; unavailable past the limit. */
  share(): { holds(leaves: number): void } {
    let own = 0;
    return {
      holds: (leaves) => {
        this.#held += leaves - own;
        own = leaves;
        if (leaves === 0 || this.#held <= this.#limit) return;
        throw new TallyError(
          'unavailable',
          'Too much evidence is being read at once. Send the bill again later.',
        );
      },
    };
  }
}
