import type { JSX } from 'preact';
import { apiText } from '../api.ts';
import { useLoad } from '../load.ts';
import { Checks } from './checks.tsx';
import { Problem, Skeleton } from './states.tsx';

/** The verdict on a receipt of this service, which is fetched and verified here, by the service's trust bundle. */
export function Verdict({ receiptId }: { readonly receiptId: string }): JSX.Element {
  const { value, problem, reload } = useLoad(receiptId, async (signal) => {
    const [receipt, bundle] = await Promise.all([
      apiText(`/v1/receipt/${receiptId}`, { signal }),
      apiText('/.well-known/trust.json', { signal }),
    ]);
    const { judge } = await import('../judge.ts');
    return judge(receipt, bundle, Date.now());
  });
  if (problem !== null) return <Problem of={problem} retry={reload} />;
  return value === null ? <Skeleton rows={3} /> : <Checks of={value} />;
}
