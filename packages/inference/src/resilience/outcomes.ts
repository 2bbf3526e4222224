import { type Outcomes, WINDOW_MS } from './light.ts';

/** Outcomes are counted in spans of this length; the oldest spans are dropped. */
const SPAN_MS = 60_000;
const SPANS = WINDOW_MS / SPAN_MS;

/** What a process tells others of a model's calls: milliseconds that have passed stand for times. */
export interface ToldOutcomes extends Omit<Outcomes, 'answeredAt' | 'failedAt'> {
  /** `<provider>/<the provider's own name for the model>`. */
  readonly model: string;
  readonly answeredMs: number | null;
  readonly failedMs: number | null;
}

interface Span {
  readonly index: number;
  answered: number;
  failed: number;
}

/** Counts how the calls of one model ended. Times are milliseconds of one clock. */
export class OutcomeRecord {
  #answeredAt: number | null = null;
  #failedAt: number | null = null;
  #failedInARow = 0;
  #failure = '';
  #spans: Span[] = [];

  answered(now: number): void {
    this.#answeredAt = now;
    this.#failedInARow = 0;
    this.#span(now).answered += 1;
  }

  /** @param kind letters and underscores */
  failed(now: number, kind: string): void {
    this.#failedAt = now;
    this.#failedInARow += 1;
    this.#failure = kind;
    this.#span(now).failed += 1;
  }

  read(now: number): Outcomes {
    const spans = this.#recent(now);
    return {
      answeredAt: this.#answeredAt,
      failedAt: this.#failedAt,
      failedInARow: this.#failedInARow,
      failure: this.#failure,
      answered: spans.reduce((sum, { answered }) => sum + answered, 0),
      failed: spans.reduce((sum, { failed }) => sum + failed, 0),
    };
  }

  #recent(now: number): Span[] {
    const index = Math.floor(now / SPAN_MS);
    return this.#spans.filter((span) => span.index > index - SPANS);
  }

  #span(now: number): Span {
    const index = Math.floor(now / SPAN_MS);
    const newest = this.#spans.at(-1);
    if (newest?.index === index) return newest;
    const span = { index, answered: 0, failed: 0 };
    this.#spans = [...this.#recent(now), span];
    return span;
  }
}

/** Milliseconds of the last call that was answered or failed; null if there was none. */
export function lastOf({ answeredAt, failedAt }: Outcomes): number | null {
  return answeredAt === null ? failedAt : Math.max(answeredAt, failedAt ?? answeredAt);
}

/** How the calls of a model ended in several processes, as if one had made them. @param all at least one */
export function together(all: readonly Outcomes[]): Outcomes {
  const latest = (times: (number | null)[]): number | null =>
    times.reduce((one, other) => (other === null || (one !== null && one >= other) ? one : other), null);
  const answeredAt = latest(all.map((one) => one.answeredAt));
  const failedAt = latest(all.map((one) => one.failedAt));
  const since = all.filter((one) => (one.failedAt ?? -Infinity) >= (answeredAt ?? -Infinity));
  return {
    answeredAt,
    failedAt,
    failedInARow: since.reduce((sum, { failedInARow }) => sum + failedInARow, 0),
    failure: all.find((one) => one.failedAt === failedAt && failedAt !== null)?.failure ?? '',
    answered: all.reduce((sum, { answered }) => sum + answered, 0),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
  };
}
