import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { api } from '../../api.ts';
import { Problem, Skeleton } from '../../components/states.tsx';
import { type Loading, useLoad } from '../../load.ts';
import { query, setQuery } from '../../router.ts';
import type { LogStatus } from './documents.ts';
import { Glance, Standing } from './glance.tsx';
import { Head, headOf } from './head.tsx';
import { LeafDialog } from './leaf-dialog.tsx';
import { Leaves } from './leaves.tsx';
import { Monitor } from './monitor.tsx';
import { Postings } from './postings.tsx';

/** Milliseconds between two looks at the head. */
const EVERY = 5_000;

/** The anchor log: its newest head, checked; its leaves; its roots on the chain. */
export function Page(): JSX.Element {
  const log = useLoad('log', async (signal) => {
    const status = await api<LogStatus>('/v1/log', { signal, as: null });
    return { status, head: await headOf(status, signal) };
  });
  useRepeated(log);
  const status = log.value?.status ?? null;
  const shown = query.value.get('list') === 'postings' ? 'postings' : 'leaves';
  const hash = query.value.get('hash');
  return (
    <>
      <header class="title">
        <div>
          <h1>The anchor log</h1>
          <p class="lede">
            An append-only list of hashes. Each root is signed and posted to a public chain: from then on
            nobody can backdate a receipt, or remove one unnoticed.
          </p>
        </div>
      </header>
      {log.problem !== null && <Problem of={log.problem} retry={log.reload} />}
      {log.value === null && log.problem === null && (
        <>
          <div class="glance waiting-log">
            <Skeleton />
          </div>
          <div class="panel head waiting-log">
            <Skeleton />
          </div>
        </>
      )}
      {status !== null && log.value !== null && (
        <>
          <Glance log={status} />
          <Standing log={status} />
          <Head of={log.value.head} />
        </>
      )}
      <div class="ways lists" role="group" aria-label="What is listed">
        {(['leaves', 'postings'] as const).map((name) => (
          <button
            type="button"
            key={name}
            aria-pressed={name === shown}
            onClick={() => setQuery({ list: name === 'leaves' ? null : name }, 'replace')}
          >
            {name === 'leaves' ? 'Leaves' : 'Postings to the chain'}
          </button>
        ))}
      </div>
      {shown === 'leaves' ? (
        <Leaves accepted={status?.accepted ?? null} />
      ) : (
        <Postings chain={status?.chain ?? null} known={status !== null} />
      )}
      {status !== null && <Monitor log={status} />}
      {hash !== null && <LeafDialog key={hash} text={hash} chainId={status?.chain?.chain_id ?? null} />}
    </>
  );
}

/** Calls `reload` now and again while somebody looks at the page, but never while something is still on its way. */
function useRepeated({ busy, reload }: Pick<Loading<unknown>, 'busy' | 'reload'>): void {
  useEffect(() => {
    if (busy) return;
    const again = (): void => (document.hidden ? wait() : reload());
    let timer: ReturnType<typeof setTimeout>;
    const wait = (): void => {
      timer = setTimeout(again, EVERY);
    };
    wait();
    return () => clearTimeout(timer);
  }, [busy]);
}
