import type { JSX } from 'preact';
import { ApiProblem, apiText } from '../../api.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Findings } from '../../components/findings.tsx';
import { Icon } from '../../components/icon.tsx';
import { Problem } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { saveFile } from '../../save.ts';
import type { CheckedHead, Contradiction } from './check-head.ts';
import { longDuration, useNow } from './clock.ts';
import { type LogStatus, leaves } from './documents.ts';

/** The newest checkpoint, checked; what can't be read instead, or null before there is one. */
export async function headOf(log: LogStatus, signal: AbortSignal): Promise<CheckedHead | ApiProblem | null> {
  try {
    const note = await apiText('/checkpoint', { signal, as: null });
    const { checkHead } = await import('./check-head.ts');
    return await checkHead(note, log);
  } catch (error) {
    if (error instanceof ApiProblem) return error.status === 404 ? null : error;
    throw error;
  }
}

/** The newest checkpoint as this page checked it: signature, witnesses, and consistency with what this browser saw last. */
export function Head({ of: value }: { readonly of: Awaited<ReturnType<typeof headOf>> }): JSX.Element {
  if (value === null) {
    return (
      <section class="panel head" aria-label="Newest checkpoint">
        <h2>Newest checkpoint</h2>
        <p>The log has signed no checkpoint yet. It signs one about a second after the first hash.</p>
      </section>
    );
  }
  if (value instanceof ApiProblem) return <Problem of={value} />;
  return (
    <>
      {value.contradiction !== null && <Alarm of={value.contradiction} />}
      <section
        class="panel head"
        aria-label="Newest checkpoint"
        data-state={value.findings.some(({ state }) => state === 'fail') ? 'fail' : 'pass'}
      >
        <header>
          <h2>Newest checkpoint</h2>
          {value.size !== null && (
            <p class="fine">
              {leaves(value.size)} · first seen here <Age of={value.seen} />
            </p>
          )}
        </header>
        {value.root !== null && (
          <p class="root">
            <span class="fine">Root</span> <code>{value.root}</code>
            <CopyButton text={value.root} what="root" />
          </p>
        )}
        <Findings of={value.findings} />
        <details>
          <summary>The signed note</summary>
          <pre tabIndex={0}>{value.note}</pre>
          <CopyButton text={value.note} what="note" />
        </details>
      </section>
    </>
  );
}

function Age({ of }: { readonly of: string }): JSX.Element {
  const seconds = Math.max(0, Math.floor((useNow() - Date.parse(of)) / 1_000));
  return (
    <span>
      {longDuration(seconds)} ago (<Time at={of} />)
    </span>
  );
}

const CLAIMS: Readonly<Record<Contradiction['kind'], string>> = {
  fork: 'It has signed two trees that contradict each other.',
  rollback: 'It shows fewer leaves than it has signed before.',
};

/** Tells that the log contradicts itself, and offers the proof. */
function Alarm({ of }: { readonly of: Contradiction }): JSX.Element {
  const save = (): void => {
    const { kind, earlier, later, verifierKey } = of;
    const proof = { type: 'tally-log-contradiction', kind, verifier_key: verifierKey, earlier, later };
    saveFile(`${JSON.stringify(proof, null, 2)}\n`, `log-${kind}.json`, 'application/json');
  };
  return (
    <section class="alarm" role="alert">
      <Icon name="fail" />
      <div>
        <h2>This log has rewritten its history</h2>
        <p>
          {CLAIMS[of.kind]} Both heads carry its signature, so together they prove it. This browser goes on
          comparing with the earlier one. Save the proof and show it to others who follow this log.
        </p>
        <button type="button" class="primary" onClick={save}>
          <Icon name="download" /> Save both signed heads
        </button>
      </div>
    </section>
  );
}
