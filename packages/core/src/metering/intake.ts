import { TallyError } from '../errors.ts';
import { type Sha256, sha256 } from '../hash.ts';
import { parseLine } from '../json/lines.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { compareInstants, instantOf } from '../time.ts';
import { type EvidenceSummary, EvidenceTally } from './evidence.ts';
import type { EvidenceClass, EvidenceCounts } from './evidence-classes.ts';
import { readRichItem } from './evidence-item.ts';
import { requireClass } from './evidence-policy.ts';

/** Members of the bill that the intake needs. */
export interface MeteredWindow {
  /** Number of units billed: 0 to 10,000,000. */
  readonly billed_unit_count: number;
  readonly window_start: string;
  readonly window_end: string;
}

/** Judge of the receipts and anchors that are given as evidence. */
export interface EvidenceVerifier {
  /** The anchored hash (64 hex) of a receipt, and when it says it was issued (Unix seconds). @throws not_a_receipt */
  identify(receipt: JsonObject): { readonly sha256: string; readonly issuedAt: number };
  /** Verifies a receipt. `fault` says why it is not valid, and is null if it is. */
  verifyReceipt(
    receipt: JsonObject,
    anchor: JsonObject | undefined,
  ): Promise<{ readonly fault: string | null; readonly trusted: boolean }>;
  /** Judges the anchored result of a hash. `fault` says what it contradicts. */
  verifyAnchor(
    hash: Uint8Array,
    anchor: JsonObject,
  ): Promise<{ readonly fault: string | null; readonly logged: boolean }>;
  /** Which of these hashes are in the log, in their order; absent where there is no log to ask. */
  readonly areLogged?: ((hashes: readonly Uint8Array[]) => Promise<readonly boolean[]>) | undefined;
}

/** Result of judging a bill's evidence. */
export interface AssessedEvidence extends EvidenceSummary {
  readonly counts: EvidenceCounts;
}

interface Waiting {
  readonly path: string;
  readonly hash: Uint8Array;
  readonly receipt: JsonObject | undefined;
  readonly anchor: JsonObject | undefined;
  readonly issuedAt: number;
}

/** Result of judging an item: its class, or why it is refused. */
interface Finding {
  readonly class: EvidenceClass;
  readonly fault?: string | null;
  readonly trusted?: boolean;
}

const HASHED: Finding = { class: 'hashed' };

/**
 * Takes the evidence of one bill in order (spec/metering.md): tallies the leaves, verifies the receipts that are given
 * whole, and finds the class of each leaf. Call `settle` now and then, because what waits to be judged is held in
 * memory.
 *
 * Memory: that of `EvidenceTally`, and what was added since the last `settle`.
 */
export class EvidenceIntake {
  readonly #tally: EvidenceTally;
  readonly #bill: MeteredWindow;
  readonly #policy: EvidenceClass;
  readonly #verifier: EvidenceVerifier;
  readonly #counts: EvidenceCounts = { verified: 0, logged: 0, hashed: 0, trusted: 0, issued_in_window: 0 };
  #waiting: Waiting[] = [];

  /**
   * @param policy the least class of leaf that is accepted
   * @param hash what leaves and nodes are hashed with; core's own SHA-256 when absent
   */
  constructor(
    bill: MeteredWindow,
    verifier: EvidenceVerifier,
    {
      policy = 'hashed',
      hash = sha256,
    }: { policy?: EvidenceClass | undefined; hash?: Sha256 | undefined } = {},
  ) {
    this.#bill = bill;
    this.#verifier = verifier;
    this.#policy = policy;
    this.#tally = new EvidenceTally(bill.billed_unit_count, hash);
  }

  /** Leaves taken so far. */
  get backed(): number {
    return this.#tally.backed;
  }

  /** Number of items that wait for `settle`. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Takes one item: a leaf, a leaf with the anchored result of its hash, or a whole receipt.
   * @param path what the errors call the item; `evidence[i]` when absent
   * @throws what `EvidenceTally.add` does; metering_evidence_invalid for a `receipt` that is not a receipt;
   * metering_evidence_policy for a bare hash where the policy asks for a class that it can't reach
   */
  add(value: JsonValue, path = `evidence[${this.backed}]`): void {
    const item = readRichItem(value, path);
    if (item === null) {
      this.#tally.add(value, path);
      this.#takeHash(path, undefined);
      return;
    }
    const { unit, receipt, sha256: givenHash = null, anchor } = item;
    if (receipt === undefined) {
      this.#tally.add({ unit, receipt_sha256: givenHash }, path);
      this.#takeHash(path, anchor);
      return;
    }
    const { sha256: receiptSha256, issuedAt } = this.#identify(receipt, path);
    this.#tally.add({ unit, receipt_sha256: receiptSha256 }, path);
    this.#waiting.push({ path, hash: this.#tally.lastReceipt, receipt, anchor, issuedAt });
  }

  /**
   * Takes an item as JSON bytes: the same as to parse them and `add`, several times as fast where they are a leaf's JCS.
   * @param path what the errors call the item: `line 7`
   * @throws what `parseLine` and `add` do
   */
  addJson(bytes: Uint8Array, path: string): void {
    if (this.#tally.addCanonical(bytes, path)) this.#takeHash(path, undefined);
    else this.add(parseLine(bytes, path), path);
  }

  /**
   * Judges what was added since the last call. Of several refusals, the one of the item that was added first is thrown.
   * @throws metering_evidence_invalid for a receipt or an anchor that is not valid; metering_evidence_policy for a class
   * below the one that the policy requires. `field` names the item.
   */
  async settle(): Promise<void> {
    const items = this.#waiting;
    if (items.length === 0) return;
    this.#waiting = [];
    const [assessed, logged] = await Promise.all([this.#assessItems(items), this.#findLogged(items)]);
    for (const item of items) {
      const found = assessed.get(item) ?? HASHED;
      this.#count(item, logged.has(item) ? { ...found, class: 'logged' } : found);
    }
  }

  /** Settles the rest and sums up. Throws as `settle` does. */
  async finish(): Promise<AssessedEvidence> {
    await this.settle();
    return { ...this.#tally.summary(), counts: { ...this.#counts } };
  }

  #identify(receipt: JsonObject, path: string): ReturnType<EvidenceVerifier['identify']> {
    try {
      return this.#verifier.identify(receipt);
    } catch (error) {
      if (error instanceof TallyError && error.code === 'not_a_receipt') {
        throw invalid(`${path}.receipt`, error.message);
      }
      throw error;
    }
  }

  /** Takes the newest leaf, given by its hash: alone, or with the anchored result of the hash. */
  #takeHash(path: string, anchor: JsonObject | undefined): void {
    const canBeLogged = anchor !== undefined || this.#verifier.areLogged !== undefined;
    if (!canBeLogged || this.#policy === 'verified') {
      requireClass('hashed', this.#policy, { path, hash: this.#tally.lastReceipt });
      this.#counts.hashed += 1;
      return;
    }
    this.#waiting.push({ path, hash: this.#tally.lastReceipt, receipt: undefined, anchor, issuedAt: 0 });
  }

  /** Judges the items that have a receipt or an anchor. The others, of which there may be a million, cost nothing here. */
  async #assessItems(items: readonly Waiting[]): Promise<ReadonlyMap<Waiting, Finding>> {
    const provable = items.filter(({ receipt, anchor }) => receipt !== undefined || anchor !== undefined);
    const findings = provable.map(async (item) => [item, await this.#assessItem(item)] as const);
    return new Map(await Promise.all(findings));
  }

  async #assessItem({ hash, receipt, anchor }: Waiting): Promise<Finding> {
    if (receipt !== undefined) {
      return { class: 'verified', ...(await this.#verifier.verifyReceipt(receipt, anchor)) };
    }
    if (anchor === undefined) return HASHED;
    const { fault, logged } = await this.#verifier.verifyAnchor(hash, anchor);
    return { class: logged ? 'logged' : 'hashed', fault };
  }

  /** The items without a receipt whose hash is in the log. */
  async #findLogged(items: readonly Waiting[]): Promise<ReadonlySet<Waiting>> {
    const hashOnly = items.filter(({ receipt }) => receipt === undefined);
    if (hashOnly.length === 0) return new Set();
    const found = (await this.#verifier.areLogged?.(hashOnly.map(({ hash }) => hash))) ?? [];
    return new Set(hashOnly.filter((_, index) => found[index]));
  }

  #count(
    { path, hash, receipt, issuedAt }: Waiting,
    { class: found, fault = null, trusted = false }: Finding,
  ): void {
    if (fault !== null) throw invalid(`${path}.${receipt === undefined ? 'anchor' : 'receipt'}`, fault);
    requireClass(found, this.#policy, { path, hash });
    this.#counts[found] += 1;
    if (trusted) this.#counts.trusted += 1;
    if (receipt !== undefined && this.#isInWindow(issuedAt)) this.#counts.issued_in_window += 1;
  }

  /** Receipts state whole seconds, so the start of the window is rounded down to one. */
  #isInWindow(issuedAt: number): boolean {
    const { window_start, window_end } = this.#bill;
    const issued = { seconds: issuedAt, nanos: 0 };
    return issuedAt >= instantOf(window_start).seconds && compareInstants(issued, instantOf(window_end)) < 0;
  }
}

function invalid(field: string, why: string): TallyError {
  return new TallyError('metering_evidence_invalid', `${field} is not valid: ${why}`, { field });
}
