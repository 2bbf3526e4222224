import type { JSX } from 'preact';
import { api } from '../../api.ts';
import { Bars } from '../../components/bars.tsx';
import { Money } from '../../components/money.tsx';
import { Problem, Skeleton } from '../../components/states.tsx';
import { count, counted } from '../../format/number.ts';
import { useLoad } from '../../load.ts';
import type { CompressionStats } from './documents.ts';

/** What compression saved for all callers, by method. */
export function Savings(): JSX.Element | null {
  const { value, problem, reload } = useLoad('savings', async (signal) => {
    const { service } = await api<CompressionStats>('/v1/compute/compression/stats', { signal });
    return service;
  });
  // The list of members above says the same.
  if (problem?.status === 402) return null;
  return (
    <section aria-labelledby="savings">
      <h2 class="section" id="savings">
        What compression saved for all callers
      </h2>
      {problem !== null ? (
        <Problem of={problem} retry={reload} />
      ) : value === null ? (
        <Skeleton rows={3} />
      ) : value.saved_tokens === 0 ? (
        <p class="fine">Nothing yet: calls whose prompts compression shortened are counted here.</p>
      ) : (
        <>
          <p class="fine sums">
            Of {counted(value.tokens_before, 'token')} in the prompts of {counted(value.calls, 'call')},{' '}
            {count(value.saved_tokens)} were taken away. That saved <Money of={value.saving.usdc} />, of which
            callers got <Money of={value.share.usdc} />.
          </p>
          <Bars
            label="Tokens taken away, by method"
            bars={Object.entries(value.methods).map(([name, { calls, tokens }]) => ({
              name,
              value: tokens,
              shown: `${counted(tokens, 'token')} in ${counted(calls, 'call')}`,
            }))}
          />
        </>
      )}
    </section>
  );
}
