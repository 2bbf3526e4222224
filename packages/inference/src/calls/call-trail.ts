import type { ProviderErrorKind } from '../providers/provider.ts';
import type { RouteDecision } from '../router/router.ts';

/** A part of a call's time, in milliseconds; `at_ms` counts from the call's acceptance. */
interface TrailSpan {
  readonly at_ms: number;
  readonly ms: number;
}

/** A failed try, as the answer reports it. */
export interface FailedTry extends TrailSpan {
  readonly model: string;
  readonly kind: ProviderErrorKind;
  readonly status: number | null;
}

/** The try that the answer came from; its span ends when the answer begins, or is there if it comes in one piece. */
interface AnsweredTry extends TrailSpan {
  readonly model: string;
  readonly provider: string;
}

/** One step of a call. */
interface TrailStep extends TrailSpan {
  readonly step: 'compress' | 'route' | 'reserve' | 'tries' | 'settle';
}

/** What a call went through and how long that took, told while it happens. */
export class CallTrail {
  readonly steps: TrailStep[] = [];
  readonly tries: FailedTry[] = [];
  /** Null while no provider has answered. */
  answered: AnsweredTry | null = null;
  /** Milliseconds to the first byte of the answer; null while there is none. */
  firstByteMs: number | null = null;
  /** Where the call is sent; null until that is decided. */
  decision: RouteDecision | null = null;
  /** Whether the call has been handed to the list of calls, which it is once. */
  isListed = false;
  readonly #began = performance.now();

  /** Milliseconds since the call was accepted. */
  elapsed(): number {
    return round(performance.now() - this.#began);
  }

  /** Notes that the answer begins. Only the first time counts. */
  begins(): void {
    this.firstByteMs ??= this.elapsed();
  }

  /** Notes a step that ends now. @param from what `performance.now()` said at its beginning */
  ends(step: TrailStep['step'], from: number): void {
    this.steps.push({ step, ...this.span(from) });
  }

  /** What began at `from`, of `performance.now()`, and ends now. */
  span(from: number): TrailSpan {
    return { at_ms: round(from - this.#began), ms: round(performance.now() - from) };
  }
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
