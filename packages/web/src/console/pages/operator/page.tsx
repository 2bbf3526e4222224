import type { JSX } from 'preact';
import { api } from '../../api.ts';
import { Empty, Problem, Skeleton } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { open } from '../../frame/open.ts';
import { isOperator } from '../../identity/identity.ts';
import { usePolling } from '../../poll.ts';
import type { Overview } from './documents.ts';
import { Models } from './models.tsx';
import { CatalogueState, Health, LogState, Queues, Refunds, Webhooks } from './parts.tsx';

const title = 'Operator';

const EVERY_MS = 5_000;

/** How the whole service is, for its operator, who can rest and resume providers and models. */
export function Page(): JSX.Element {
  const { value, problem, reload } = usePolling(isOperator.value ? 'overview' : null, EVERY_MS, (signal) =>
    api<Overview>('/v1/operator/overview', { signal }),
  );
  if (!isOperator.value) return <SignedOut />;
  return (
    <div class="operator">
      <header class="title">
        <h1>{title}</h1>
        {value !== null && (
          <p class="fine">
            Read again every {EVERY_MS / 1_000} seconds · <Time at={value.at} />
          </p>
        )}
      </header>
      {problem !== null && <Problem of={problem} retry={reload} />}
      {value === null ? (
        problem === null && (
          <>
            <div class="banner" data-state="unknown" />
            <div class="numbers waiting" />
            <Skeleton rows={12} />
          </>
        )
      ) : (
        <>
          <Health of={value} />
          <Models of={value} reload={reload} />
          <Queues of={value} />
          <Refunds of={value} />
          <LogState of={value} />
          <CatalogueState of={value} />
          <Webhooks of={value} />
        </>
      )}
    </div>
  );
}

function SignedOut(): JSX.Element {
  return (
    <>
      <h1>{title}</h1>
      <Empty title="Sign in with an operator key">
        <p>
          This page shows how the whole service is, and rests and resumes models. On the machine of the
          service, <code>tally operator-key create --link</code> makes a key and a link that opens this page
          with it.
        </p>
        <button type="button" class="primary" onClick={() => void (open.value = 'sign-in')}>
          Sign in
        </button>
      </Empty>
    </>
  );
}
