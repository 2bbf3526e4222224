import { Refusal } from '@tallystick/kit';

const RETRY_SECONDS = 15;

/** Limits the number of concurrent checks in this process. */
export interface ConcurrencyLimit {
  /** @throws rate_limited, with `Retry-After` */
  run<T>(partner: string, work: () => Promise<T>): Promise<T>;
}

export function createGate({
  perPartner,
  together,
}: {
  readonly perPartner: number;
  readonly together: number;
}): ConcurrencyLimit {
  const running = new Map<string, number>();
  let all = 0;
  return {
    async run(partner, work) {
      const own = running.get(partner) ?? 0;
      if (own >= perPartner || all >= together) {
        throw new Refusal(
          'rate_limited',
          own >= perPartner
            ? `${perPartner} checks of this key are already running. Try again when one is done.`
            : 'The limit of checks running at once is reached. Try again shortly.',
          { retryAfter: RETRY_SECONDS },
        );
      }
      running.set(partner, own + 1);
      all += 1;
      try {
        return await work();
      } finally {
        all -= 1;
        const left = (running.get(partner) ?? 1) - 1;
        if (left === 0) running.delete(partner);
        else running.set(partner, left);
      }
    },
  };
}
