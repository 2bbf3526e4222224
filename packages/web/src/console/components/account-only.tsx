import type { JSX } from 'preact';
import type { ApiProblem } from '../api.ts';
import { open } from '../frame/open.ts';
import { identity } from '../identity/identity.ts';
import { Empty, Problem } from './states.tsx';

/** What stands in place of what only a caller with a name may see: why, and what to do about it. */
export function AccountOnly({
  problem,
  retry,
  title,
  why,
}: {
  readonly problem: ApiProblem;
  readonly retry: () => void;
  /** For those who are not signed in: `Sign in to see your keys`. */
  readonly title: string;
  /** What is here, in a sentence. */
  readonly why: string;
}): JSX.Element {
  const who = identity.value;
  const other = who?.way === 'bearer' && who.kind !== 'API key' ? who.kind.toLowerCase() : null;
  const signIn = (
    <button type="button" class="primary" onClick={() => void (open.value = 'sign-in')}>
      {who === null ? 'Sign in' : 'Sign in as somebody else'}
    </button>
  );
  if (problem.code === 'key_cannot_manage')
    return (
      <Empty title="This key may not manage its account">
        <p>It makes calls. Sign in with the account’s own key, or as the DID that owns the account.</p>
        {signIn}
      </Empty>
    );
  if (
    who === null
      ? [401, 402].includes(problem.status ?? 0)
      : other !== null && [401, 403].includes(problem.status ?? 0)
  )
    return (
      <Empty title={title}>
        <p>{other === null ? why : `You are signed in with a ${other}, which has no account. ${why}`}</p>
        {signIn}
      </Empty>
    );
  return <Problem of={problem} retry={retry} />;
}
