import {
  type AssessedEvidence,
  type EvidenceIntake,
  type JsonObject,
  type JsonValue,
  LineReader,
  lineName,
  parseLine,
  TallyError,
} from '@tallystick/core';

const BILL_BYTES = 65_536;
/** Room for the largest receipt of a profile (65,536 bytes) and an anchored result. */
const ITEM_BYTES = 131_072;

/** What a stream of lines held: the bill of its first line, and what the evidence on the others comes to. */
export interface MeteredLines {
  readonly bill: JsonObject;
  readonly evidence: AssessedEvidence;
}

export interface LineOptions {
  /** Checks the value of the first line. */
  readonly readBill: (value: JsonValue) => JsonObject;
  readonly openIntake: (bill: JsonObject) => EvidenceIntake;
  readonly budget: LeafBudget;
}

/**
 * Reads a bill (the first line, at most 64 KiB) and its evidence (an item a line, at most 128 KiB) as they come. What is
 * wrong is told of the first line where anything is. After each chunk nothing is kept of an item but what tells a second
 * one of its leaf.
 * @throws json_empty without any line; json_* and body_too_large with the line in `field`; what `readBill`,
 * `openIntake` and `EvidenceIntake` throw; unavailable when the budget is used up
 */
export async function readMeteredLines(
  chunks: AsyncIterable<Uint8Array>,
  { readBill, openIntake, budget }: LineOptions,
): Promise<MeteredLines> {
  let open: { bill: JsonObject; intake: EvidenceIntake } | undefined;
  const lines = new LineReader(
    (line, number) => {
      if (open !== undefined) {
        open.intake.addJson(line, lineName(number));
        return;
      }
      const bill = readBill(parseLine(line, lineName(number)));
      open = { bill, intake: openIntake(bill) };
    },
    (number) => (number === 1 ? BILL_BYTES : ITEM_BYTES),
  );
  const share = budget.share();
  try {
    for await (const chunk of chunks) {
      lines.push(chunk);
      await open?.intake.settle();
      share.holds(open?.intake.backed ?? 0);
    }
    lines.end();
    if (open === undefined) throw new TallyError('json_empty', 'Send the bill on the first line.');
    return { bill: open.bill, evidence: await open.intake.finish() };
  } catch (error) {
    // An earlier line that is refused is told first.
    await open?.intake.settle();
    throw error;
  } finally {
    share.holds(0);
  }
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
          'The service is reading too much evidence at the moment. Send the bill again later.',
        );
      },
    };
  }
}
